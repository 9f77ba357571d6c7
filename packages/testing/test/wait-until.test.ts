import { describe, expect, it } from 'vitest';
import { waitUntil } from '../src/index.ts';

describe('waitUntil', () => {
  it('returns the first truthy answer and counts an error as not yet', async () => {
    let asked = 0;
    const answer = await waitUntil(
      () => {
        asked += 1;
        if (asked === 1) throw new Error('not up');
        return asked === 3 ? { asked } : undefined;
      },
      { what: 'the third answer', everyMs: 1 },
    );
    expect(answer).toEqual({ asked: 3 });
  });

  it('fails naming what was awaited and the last value', async () => {
    await expect(
      waitUntil(() => 0, { what: 'a unit to come back', timeoutMs: 30, everyMs: 5 }),
    ).rejects.toThrow('Waited 30 ms for a unit to come back; last value: 0');
  });

  it('fails with the last error as its cause', async () => {
    const cause = new Error('connection refused');
    const failing = waitUntil(() => Promise.reject(cause), { what: 'a server', timeoutMs: 30, everyMs: 5 });
    await expect(failing).rejects.toThrow('last error: Error: connection refused');
    await expect(failing).rejects.toHaveProperty('cause', cause);
  });

  it('fails in time when the check never settles', async () => {
    await expect(
      waitUntil(() => new Promise(() => undefined), { what: 'nothing', timeoutMs: 30 }),
    ).rejects.toThrow('Waited 30 ms for nothing; last the check did not answer once');
  });
});
