import { randomUUID } from 'node:crypto';
import { simulatorFaults } from '@lapse/contracts';
import { createLogger } from '@lapse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openBank } from '../src/bank.ts';
import { Books } from '../src/books.ts';
import { chance } from '../src/chance.ts';
import { openJournal } from '../src/journal.ts';
import { testFolder } from './simulator-process.ts';

const log = createLogger('test', 'silent');
const limits = { attemptsMax: 1_000, eventsMax: 10_000 };
const orderId = '0198c0de-7000-7000-8000-000000000001';

const id = fc.integer({ min: 0, max: 4 });
const step = fc.oneof(
  fc.record({ do: fc.constant('open' as const), id, amountMinor: fc.integer({ min: 0, max: 20 }) }),
  fc.record({
    do: fc.constant('pay' as const),
    id,
    outcome: fc.constantFrom('succeed' as const, 'decline' as const),
  }),
  fc.record({ do: fc.constant('cancel' as const), id }),
  fc.record({
    do: fc.constant('refund' as const),
    id,
    key: fc.option(id, { nil: null }),
    amountMinor: fc.integer({ min: 1, max: 20 }),
  }),
  fc.record({ do: fc.constant('fail a refund' as const), id }),
  fc.record({ do: fc.constant('restart' as const) }),
);
const faults = fc.record({
  seed: fc.nat(),
  captureAtCancel: fc.constantFrom(0, 0.5),
  wrongAmount: fc.constantFrom(0, 0.5),
  twin: fc.constantFrom(0, 1),
  duplicate: fc.constantFrom(0, 1),
});

describe('the rules of money', () => {
  it('hold in any order of calls, under any faults, and over restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), faults, async (steps, given) => {
        const folder = testFolder();
        const open = async () => {
          const books = new Books();
          const journal = await openJournal(folder.dir, (record) => books.apply(record));
          const bank = openBank({
            books,
            journal,
            faults: () => simulatorFaults.parse(given),
            deliver: () => {},
            limits,
            log,
          });
          const close = async () => {
            await bank.close();
            await journal.close();
          };
          return { books, bank, close };
        };
        let now = await open();
        const ids = Array.from({ length: 5 }, () => randomUUID());
        const refOf = (n: number) => now.books.attemptsByKey.get(String(n))?.terms.providerRef ?? 'pa_none';
        try {
          for (const each of steps) {
            if (each.do === 'open') {
              const body = {
                attemptId: ids[each.id] ?? '',
                orderId,
                amountMinor: each.amountMinor,
                currency: 'CNY',
              };
              now.bank.openAttempt(String(each.id), body);
            } else if (each.do === 'pay') {
              now.bank.pay(refOf(each.id), each.outcome, 0);
            } else if (each.do === 'cancel') {
              const answer = now.bank.cancel(refOf(each.id));
              if (answer.kind === 'done') expect(['cancelled', 'captured']).toContain(answer.value.state);
            } else if (each.do === 'refund') {
              const paymentId = now.books.attempts.get(refOf(each.id))?.capture?.paymentId ?? 'pay_none';
              const key = each.key === null ? null : `r${each.key}`;
              now.bank.refund(key, { paymentId, amountMinor: each.amountMinor, currency: 'CNY' });
            } else if (each.do === 'fail a refund') {
              now.bank.failRefund([...now.books.refunds.keys()][each.id] ?? 're_none');
            } else {
              const before = snapshot(now.books);
              await now.close();
              now = await open();
              expect(snapshot(now.books)).toEqual(before);
            }
          }
          checkMoney(now.books);
        } finally {
          await now.close();
          folder.remove();
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the books, whoever writes to them,', () => {
  const terms = {
    providerRef: 'pa_1',
    paymentId: 'pay_1',
    attemptId: randomUUID(),
    orderId,
    amountMinor: 100,
    currency: 'CNY',
  };
  const taken = {
    paymentId: 'pay_1',
    amountMinor: 100,
    currency: 'CNY',
    capturedAt: new Date().toISOString(),
  };
  const captured = { kind: 'captured', ref: 'pa_1', capture: taken, deliveries: [] } as const;
  const refund = (refundId: string | null, change: object = {}) =>
    ({
      kind: 'refund',
      dueAt: null,
      refund: {
        refundRef: `re_${randomUUID()}`,
        refundId,
        paymentId: 'pay_1',
        amountMinor: 60,
        currency: 'CNY',
        state: 'refunded',
        requestedAt: taken.capturedAt,
        ...change,
      },
    }) as const;
  const opened = () => {
    const books = new Books();
    books.apply({ kind: 'attempt', key: 'k', terms });
    return books;
  };

  it('take no second capture, none after a cancel, and no cancel after a capture', () => {
    const paid = opened();
    paid.apply(captured);
    expect(() => paid.apply(captured)).toThrow('is captured');
    expect(() => paid.apply({ kind: 'cancelled', ref: 'pa_1' })).toThrow('is captured');
    const cancelled = opened();
    cancelled.apply({ kind: 'cancelled', ref: 'pa_1' });
    expect(() => cancelled.apply(captured)).toThrow('is cancelled');
    expect(() => cancelled.apply({ kind: 'processing', ref: 'pa_1', dueAt: 0 })).toThrow('is cancelled');
  });

  it('take no cancel of what is being decided', () => {
    const books = opened();
    books.apply({ kind: 'processing', ref: 'pa_1', dueAt: 0 });
    expect(() => books.apply({ kind: 'cancelled', ref: 'pa_1' })).toThrow('is processing');
    books.apply(captured);
    expect(books.moves).toHaveLength(1);
  });

  it('take one refund per id, no more in all than was captured, and none of what was not', () => {
    const books = opened();
    expect(() => books.apply(refund('r1'))).toThrow('did not capture');
    books.apply(captured);
    books.apply(refund('r1'));
    expect(() => books.apply(refund('r1', { amountMinor: 1 }))).toThrow('a second refund');
    expect(() => books.apply(refund('r2'))).toThrow('above its capture');
    expect(() => books.apply(refund(null))).toThrow('above its capture');
    expect(() => books.apply(refund('r2', { amountMinor: 1, currency: 'EUR' }))).toThrow('did not capture');
    books.apply(refund('r2', { amountMinor: 40 }));
    expect(books.moves).toHaveLength(3);
  });
});

/** Counted anew from the moves alone, not by the sums that the books keep. */
function checkMoney(books: Books): void {
  const captures = books.moves.flatMap((move) => (move.kind === 'capture' ? [move.capture] : []));
  const refunds = books.moves.flatMap((move) => (move.kind === 'refund' ? [move.refund] : []));
  const kept = refunds.filter(({ state }) => state !== 'failed');
  expect(new Set(captures.map(({ paymentId }) => paymentId)).size).toBe(captures.length);
  for (const attempt of books.attempts.values()) {
    const { paymentId } = attempt.terms;
    const captured = captures.filter((capture) => capture.paymentId === paymentId);
    expect(captured.length).toBe(attempt.state === 'captured' ? 1 : 0);
    const back = kept.filter(({ terms }) => terms.paymentId === paymentId);
    const total = back.reduce((sum, { terms }) => sum + terms.amountMinor, 0);
    expect(total).toBeLessThanOrEqual(captured[0]?.amountMinor ?? 0);
  }
  const keys = refunds.flatMap(({ terms: { refundId } }) => (refundId === null ? [] : [refundId]));
  expect(new Set(keys).size).toBe(keys.length);
}

function snapshot(books: Books): unknown {
  return structuredClone([[...books.attempts], [...books.refunds], [...books.deliveries], books.moves]);
}

describe('chance', () => {
  it('depends on seed, purpose and subject alone, and is spread evenly', () => {
    expect(chance(7, 'twin', 'a')).toBe(chance(7, 'twin', 'a'));
    expect(
      new Set([
        chance(7, 'twin', 'a'),
        chance(8, 'twin', 'a'),
        chance(7, 'delay', 'a'),
        chance(7, 'twin', 'b'),
      ]).size,
    ).toBe(4);
    const below = Array.from({ length: 2_000 }, (_, n) => chance(1, 'x', String(n))).filter(
      (value) => value < 0.2,
    );
    expect(below.length).toBeGreaterThan(320);
    expect(below.length).toBeLessThan(480);
  });
});
