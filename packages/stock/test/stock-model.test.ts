import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { emptySnapshot, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

/** Few orders and users, so that histories meet: the same order, the same user, the last unit. */
const order = fc.integer({ min: 0, max: 7 }).map((i) => `o${i}`);
const orders = fc.array(order, { minLength: 1, maxLength: 6 });
const step = fc.oneof(
  fc.record({ do: fc.constant('reserve' as const), order, user: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ do: fc.constant('release' as const), orders }),
  fc.record({ do: fc.constant('confirm' as const), orders }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  readonly user: string;
  readonly quantity: number;
  state: 'held' | 'sold' | 'released';
}

/** What the scripts promise, in twenty lines: a map of orders and a number. */
function createModel(capacity: number) {
  const known = new Map<string, Known>();
  const buyers = new Set<string>();
  let free = capacity;
  const active = (user: string): boolean =>
    [...known.values()].some((one) => one.user === user && one.state !== 'released');
  return {
    /** The order's own user and quantity, so that a replay is a true one. */
    reserve(id: string, user: string, quantity: number): string {
      const existing = known.get(id);
      if (existing !== undefined) return existing.state === 'released' ? 'released' : 'reserved';
      if (active(user)) return 'user_holds';
      if (free < quantity) return buyers.has(user) ? 'sold_out' : 'sold_out_newcomer';
      free -= quantity;
      buyers.add(user);
      known.set(id, { user, quantity, state: 'held' });
      return 'reserved';
    },
    settle(id: string, to: 'released' | 'sold'): number {
      const existing = known.get(id);
      if (existing?.state === 'held') {
        existing.state = to;
        if (to === 'released') free += existing.quantity;
        return existing.quantity;
      }
      if (existing === undefined && to === 'released') known.set(id, { user: '', quantity: 0, state: to });
      return 0;
    },
    userOf: (id: string): string | undefined => known.get(id)?.user,
    counts() {
      const sum = (state: Known['state']): number =>
        [...known.values()].reduce((total, one) => total + (one.state === state ? one.quantity : 0), 0);
      const users = [...known.values()].filter((one) => one.state !== 'released').length;
      return { stock: free, held: sum('held'), sold: sum('sold'), users };
    },
  };
}

const quantityOf = (id: string): number => (Number(id.slice(1)) % 3) + 1;

let own: TestStock;
let activityId = 0;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

async function play(history: readonly Step[], capacity: number): Promise<void> {
  activityId += 1;
  await loadOver(own.stock, emptySnapshot(activityId, capacity));
  const model = createModel(capacity);
  for (const now of history) {
    if (now.do === 'reserve') {
      const known = model.userOf(now.order);
      const userId = known === undefined || known === '' ? `u${now.user}` : known;
      const quantity = quantityOf(now.order);
      const { kind } = await own.stock.reserve({
        activityId,
        generation: 1,
        stockRunId: own.runIdOf(activityId),
        orderId: now.order,
        userId,
        quantity,
      });
      expect(kind).toBe(model.reserve(now.order, userId, quantity));
    } else {
      const to = now.do === 'release' ? 'released' : 'sold';
      const expected = now.orders.map((id) => model.settle(id, to));
      expect(await own.stock[now.do](activityId, now.orders)).toEqual({ kind: 'done', units: expected });
    }
    const counts = await own.stock.readCounts(activityId);
    expect(counts).toMatchObject(model.counts());
    expect((counts?.stock ?? 0) + (counts?.held ?? 0) + (counts?.sold ?? 0)).toBe(capacity);
  }
}

it('any history of reserve, release and confirm does what the model does, and units always add up to capacity', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 8 }), play), {
    numRuns: 150,
  });
});

it('the same steps all at once, in whatever order Redis takes them, still add up to capacity', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 0, max: 8 }),
      async (history, capacity) => {
        activityId += 1;
        await loadOver(own.stock, emptySnapshot(activityId, capacity));
        await Promise.all(
          history.map((now) =>
            now.do === 'reserve'
              ? own.stock.reserve({
                  activityId,
                  generation: 1,
                  stockRunId: own.runIdOf(activityId),
                  orderId: now.order,
                  // One user for each order, so that every replay is a true one.
                  userId: `u${Number(now.order.slice(1)) % 4}`,
                  quantity: quantityOf(now.order),
                })
              : own.stock[now.do](activityId, now.orders),
          ),
        );
        const counts = await own.stock.readCounts(activityId);
        expect((counts?.stock ?? 0) + (counts?.held ?? 0) + (counts?.sold ?? 0)).toBe(capacity);
        expect(counts?.stock).toBeGreaterThanOrEqual(0);
      },
    ),
    { numRuns: 100 },
  );
});
