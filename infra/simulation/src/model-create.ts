import type { OutboxRow } from '@lapse/contracts';
import type { CreateOutcome, CreateResult, NewOrder } from '@lapse/order-repository';
import type { AtOnce, Ledger } from './model-ledger.ts';
import { isActive, type OrderRow, toFenceRow, toOrder, toOrderRow } from './model-rows.ts';

type Operations = AtOnce<
  'createOrders' | 'fenceOrphans' | 'findActiveOrder' | 'findOrdersByKey' | 'readStatuses'
>;

/** How orders come into being, and how it is made sure that one never does. */
export function creation(
  ledger: Ledger,
): Operations & { createUnlocked(input: readonly NewOrder[]): CreateOutcome } {
  const { guards, tables, now } = ledger;
  const { orders } = tables;
  const rows = (): OrderRow[] => [...orders.values()];

  function createOrders(input: readonly NewOrder[]): CreateOutcome {
    ledger.requireUnlocked(input.map(({ activityId }) => activityId));
    return createUnlocked(input);
  }

  /** Once a locked activity has been waited for in vain: its orders are refused, and the others are written. */
  function createUnlocked(input: readonly NewOrder[]): CreateOutcome {
    const results = new Map<NewOrder, CreateResult>();
    for (const order of input) {
      if (ledger.locked.has(order.activityId)) results.set(order, { kind: 'activity_locked' });
    }
    let first: OutboxRow | null = null;
    let waiting = input.filter((order) => !results.has(order));
    while (waiting.length > 0) {
      const row = writeWave(withoutRivals(waiting), results);
      first ??= row;
      waiting = waiting.filter((order) => !results.has(order));
      for (const order of waiting) {
        const conflict = conflictOf(order);
        if (conflict) results.set(order, conflict);
      }
      waiting = waiting.filter((order) => !results.has(order));
    }
    return { results: input.map((order) => results.get(order) ?? { kind: 'sold_out' }), outbox: first };
  }

  function writeWave(wave: readonly NewOrder[], results: Map<NewOrder, CreateResult>): OutboxRow | null {
    const created: OrderRow[] = [];
    for (const order of wave) {
      const refusal = conflictOf(order) ?? shortageOf(order);
      results.set(order, refusal ?? { kind: 'created' });
      if (refusal) continue;
      ledger.activityOf(order.activityId).available -= order.quantity;
      const row = toOrderRow(order);
      orders.set(row.id, row);
      const moved = { orderId: row.id, version: 1, from: null, to: 'PENDING', cause: 'create' } as const;
      tables.transitions.push({ ...moved, atMs: now(), credit: 0, debit: 0 });
      created.push(row);
    }
    return created.length > 0 ? ledger.addOutbox(1, created) : null;
  }

  /** Why the order cannot be inserted, in the repository's precedence: key, id, buyer. */
  function conflictOf(order: NewOrder): CreateResult | undefined {
    const { id, userId, activityId, idempotencyKey } = order;
    const sameKey = rows().find((row) => row.userId === userId && row.idempotencyKey === idempotencyKey);
    if (sameKey && guards.idempotencyKey) return { kind: 'same_key', order: toOrder(sameKey) };
    if (orders.has(id)) return { kind: 'stale_generation' };
    const holder = activeOrder(activityId, userId);
    return holder && { kind: 'already_holding', order: toOrder(holder) };
  }

  function shortageOf({ activityId, generation, quantity }: NewOrder): CreateResult | undefined {
    const activity = tables.activities.get(activityId);
    if (!activity || (guards.generationFence && activity.generation !== generation)) {
      return { kind: 'stale_generation' };
    }
    return guards.conditionalDecrement && activity.available < quantity ? { kind: 'sold_out' } : undefined;
  }

  function activeOrder(activityId: number, userId: string): OrderRow | undefined {
    return rows().find((row) => row.activityId === activityId && row.userId === userId && isActive(row));
  }

  return {
    createOrders,
    createUnlocked,
    findActiveOrder: (activityId, userId) => {
      const found = activeOrder(activityId, userId);
      return found && toOrder(found);
    },
    findOrdersByKey: (keys) =>
      keys.map(({ userId, idempotencyKey }) => {
        const found = rows().find((row) => row.userId === userId && row.idempotencyKey === idempotencyKey);
        return found && guards.idempotencyKey ? toOrder(found) : undefined;
      }),
    readStatuses: (ids) =>
      new Map(ids.flatMap((id) => orders.get(id) ?? []).map(({ id, status }) => [id, status])),
    fenceOrphans: (holds) => {
      for (const hold of guards.orphanFence ? holds : []) {
        if (!orders.has(hold.orderId)) orders.set(hold.orderId, toFenceRow(hold, new Date(now())));
      }
      const isFenced = (id: string): boolean => (orders.get(id)?.status ?? 'ABORTED') === 'ABORTED';
      return { fenced: holds.map(({ orderId }) => orderId).filter(isFenced) };
    },
  };
}

/** The first of each set of orders that cannot all be: same id, same key, or same buyer in one activity. */
function withoutRivals(orders: readonly NewOrder[]): NewOrder[] {
  const seen = new Set<string>();
  return orders.filter(({ id, activityId, userId, idempotencyKey }) => {
    const names = [`id ${id}`, `key ${idempotencyKey} ${userId}`, `buyer ${activityId} ${userId}`];
    if (names.some((name) => seen.has(name))) return false;
    for (const name of names) seen.add(name);
    return true;
  });
}
