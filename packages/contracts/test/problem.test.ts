import { describe, expect, it } from 'vitest';
import { type ProblemCode, problems, problemView } from '../src/index.ts';

const catalogue = Object.entries(problems) as [ProblemCode, (typeof problems)[ProblemCode]][];

describe('the catalogue of errors', () => {
  it.each(catalogue)('%s has an error status, a title and advice', (code, { status, title, advice }) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(title.length).toBeGreaterThan(5);
    expect(advice).toMatch(/\.$|…$/);
  });

  it('keeps the statuses that callers were promised', () => {
    const promised: [ProblemCode, number][] = [
      ['SOLD_OUT', 409],
      ['ALREADY_HOLDING', 409],
      ['NOT_ON_SALE', 403],
      ['ACTIVITY_ARCHIVED', 410],
      ['IDEMPOTENCY_KEY_REUSED', 422],
      ['OVERLOADED', 503],
      ['UNAVAILABLE', 503],
      ['SIGNATURE_INVALID', 401],
    ];
    expect(promised.map(([code]) => [code, problems[code].status])).toEqual(promised);
  });

  it('accepts its own codes only', () => {
    const view = { type: 'x', title: 'x', status: 400, code: 'SOLD_OUT', detail: 'x', instance: 'x' };
    expect(problemView.safeParse(view).success).toBe(true);
    expect(problemView.safeParse({ ...view, code: 'OTHER' }).success).toBe(false);
  });
});
