import type { OrderStatus } from '@lapse/contracts';
import type { ActiveOrder, OrderRepository } from '@lapse/order-repository';
import type { LoadedImage, Stock } from '@lapse/stock';
import { compareStock, type Difference } from './compare-stock.ts';

export interface LookPorts {
  readonly orders: Pick<
    OrderRepository,
    'readActiveOrders' | 'readActivityCounts' | 'readPendingChanges' | 'readStatuses'
  >;
  readonly stock: Pick<Stock, 'inspect'>;
}

/** Orders of one page, and ids asked for at once. */
const pageMax = 2_000;

/**
 * One look at an activity in both stores. `clean`: they agree. `passing`: it is not loaded, or just being loaded, or
 * Redis has been away for long: others see to that.
 */
export type Look =
  | { readonly kind: 'clean' | 'passing' }
  | { readonly kind: 'different'; readonly differences: readonly Difference[] };

/**
 * Compare an activity in MySQL and Redis: the sums first, and order by order only where they differ, or where
 * `everyOrder` asks for it. Locks nothing and stops nobody.
 *
 * What Redis has still to be told is read first, then MySQL, then Redis. So a change that was committed before the
 * orders were read and has not reached Redis when Redis is read has its effect in the list, or was committed between
 * the first two readings: then a second look has it in the list, or finds it done.
 */
export async function lookAtStock(
  { orders, stock }: LookPorts,
  activityId: number,
  { youngMs, everyOrder }: { readonly youngMs: number; readonly everyOrder: boolean },
): Promise<Look> {
  const changes = await orders.readPendingChanges(activityId);
  const counts = await orders.readActivityCounts(activityId);
  if (changes === null || counts === null) return { kind: 'passing' };
  const image = await stock.inspect(activityId);
  if (image.kind === 'not_loaded') return { kind: 'passing' };
  if (image.kind === 'unreadable') {
    return { kind: 'different', differences: [{ kind: 'unreadable', subject: '', evidence: image.what }] };
  }
  if (image.generation !== counts.generation || image.runId !== counts.stockRunId) return { kind: 'passing' };
  const { capacity, capacityVersion } = image;
  const sums = sumsOf(image);
  const agree =
    `${image.unitsOff} ${image.usersOff} ${capacityVersion}:${capacity} ${image.stock}` ===
      `0 0 ${counts.capacityVersion}:${counts.capacity} ${counts.available}` &&
    JSON.stringify([sums.held, sums.sold]) === JSON.stringify([counts.pending, counts.paid]);
  if (agree && !everyOrder) return { kind: 'clean' };

  const active = await readAllActive(orders, activityId);
  // Read after the orders, so that no older than they are.
  const fresh = await stock.inspect(activityId);
  if (fresh.kind !== 'loaded' || fresh.generation !== counts.generation) return { kind: 'passing' };
  const differences = compareStock({
    counts,
    changes,
    active,
    image: fresh,
    statuses: await readStatusesOf(orders, fresh, active),
    writtenBeforeMs: fresh.atMs - youngMs,
  });
  return differences.length === 0 ? { kind: 'clean' } : { kind: 'different', differences };
}

function sumsOf({ holds }: LoadedImage) {
  const held = { units: 0, orders: 0 };
  const sold = { units: 0, orders: 0 };
  for (const { state, quantity } of holds.values()) {
    if (state === 'released') continue;
    const sum = state === 'held' ? held : sold;
    sum.units += quantity;
    sum.orders += 1;
  }
  return { held, sold };
}

async function readAllActive(
  orders: LookPorts['orders'],
  activityId: number,
): Promise<Map<string, ActiveOrder>> {
  const active = new Map<string, ActiveOrder>();
  let afterUserId: string | null = null;
  for (;;) {
    const page: ActiveOrder[] = await orders.readActiveOrders(activityId, { afterUserId, limit: pageMax });
    for (const order of page) active.set(order.orderId, order);
    const last = page.at(-1);
    if (last === undefined || page.length < pageMax) return active;
    afterUserId = last.userId;
  }
}

async function readStatusesOf(
  orders: LookPorts['orders'],
  { holds }: LoadedImage,
  active: ReadonlyMap<string, ActiveOrder>,
): Promise<ReadonlyMap<string, OrderStatus>> {
  const ids: string[] = [];
  for (const { orderId, state } of holds.values()) {
    if (state !== 'released' && !active.has(orderId)) ids.push(orderId);
  }
  const statuses = new Map<string, OrderStatus>();
  for (let at = 0; at < ids.length; at += pageMax) {
    for (const [id, status] of await orders.readStatuses(ids.slice(at, at + pageMax)))
      statuses.set(id, status);
  }
  return statuses;
}
