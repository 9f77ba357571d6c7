import type { OrderStatus } from '@lapse/contracts';
import type { ActiveOrder, ActivityCounts, PendingChanges } from '@lapse/order-repository';
import type { Hold, LoadedImage } from '@lapse/stock';

/** How an activity in Redis can differ from MySQL. What it takes to mend each is in heal-stock.ts. */
export const differenceKinds = [
  /** An order that is pending or paid, without its hold. */
  'hold_missing',
  'sale_missing',
  /** A paid order that is still held; an order that ended and is still held. */
  'sale_unconfirmed',
  'hold_left',
  /** A hold whose order was never written; a sale whose order was never paid. */
  'hold_without_order',
  'sold_without_payment',
  /** Another user or quantity than the order's. */
  'hold_differs',
  'user_missing',
  'user_extra',
  /** A user whom the map of buyers does not know: repeats of an order that ended would be refused as a stranger's. */
  'user_unseen',
  /** Free, held and sold units do not add up. */
  'counter_off',
  'capacity_differs',
  'unreadable',
] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

export interface Difference {
  readonly kind: DifferenceKind;
  /** The order or user it is about; empty for the activity. */
  readonly subject: string;
  /** All that was seen: the same again in a second look means that nothing has moved. */
  readonly evidence: string;
  readonly hold?: Hold;
  readonly order?: ActiveOrder;
}

export interface StockLook {
  readonly counts: ActivityCounts;
  readonly changes: PendingChanges;
  readonly active: ReadonlyMap<string, ActiveOrder>;
  readonly image: LoadedImage;
  /** Of orders that hold in Redis and are not active in MySQL; absent: never written. */
  readonly statuses: ReadonlyMap<string, OrderStatus>;
  /** The clock of Redis, less the age that a hold may have before its order is written. */
  readonly writtenBeforeMs: number;
}

/**
 * Everything in which Redis differs from MySQL, order by order. A pure function of one look. Orders that Redis has
 * still to be told about, and holds so young that their order may be under way, are left out; what else was under
 * way between the readings shows up here, and differs in a second look.
 */
export function compareStock(look: StockLook): Difference[] {
  return [...compareNumbers(look), ...compareOrders(look), ...compareHolds(look), ...compareUsers(look)];
}

function* compareNumbers({ counts, changes, image }: StockLook): Generator<Difference> {
  if (image.unitsOff !== null && image.unitsOff !== 0) {
    yield { kind: 'counter_off', subject: '', evidence: `${image.unitsOff}` };
  }
  const inRedis = `${image.capacityVersion}:${image.capacity}`;
  const inMysql = `${counts.capacityVersion}:${counts.capacity}`;
  if (!changes.capacity && inRedis !== inMysql) {
    yield { kind: 'capacity_differs', subject: '', evidence: `${inMysql} ${inRedis}` };
  }
}

function* compareOrders({ active, changes, image }: StockLook): Generator<Difference> {
  for (const order of active.values()) {
    const { orderId, status, version } = order;
    if (changes.orderIds.has(orderId)) continue;
    const hold = image.holds.get(orderId);
    const evidence = `${status} ${version} ${textOf(hold)}`;
    const about = { subject: orderId, evidence, order, ...(hold && { hold }) };
    if (hold === undefined || hold.state === 'released') {
      yield { kind: status === 'PAID' ? 'sale_missing' : 'hold_missing', ...about };
    } else if (hold.userId !== order.userId || hold.quantity !== order.quantity) {
      yield { kind: 'hold_differs', ...about };
    } else if (status === 'PAID' && hold.state === 'held') {
      yield { kind: 'sale_unconfirmed', ...about };
    } else if (status === 'PENDING' && hold.state === 'sold') {
      yield { kind: 'sold_without_payment', ...about };
    }
  }
}

function* compareHolds(look: StockLook): Generator<Difference> {
  const { active, changes, image, statuses, writtenBeforeMs } = look;
  for (const hold of image.holds.values()) {
    const { orderId, state, atMs } = hold;
    if (state === 'released' || active.has(orderId) || changes.orderIds.has(orderId)) continue;
    const status = statuses.get(orderId) ?? 'ABORTED';
    const about = { subject: orderId, evidence: `${status} ${textOf(hold)}`, hold };
    if (state === 'sold') yield { kind: 'sold_without_payment', ...about };
    // Written since the active orders were read, or about to be.
    else if (status === 'PENDING' || status === 'PAID') continue;
    else if (status !== 'ABORTED') yield { kind: 'hold_left', ...about };
    else if (atMs <= writtenBeforeMs) yield { kind: 'hold_without_order', ...about };
  }
}

/** Within Redis alone: the users are those of the active holds, whatever MySQL says. */
function* compareUsers({ image }: StockLook): Generator<Difference> {
  const holders = new Set<string>();
  for (const hold of image.holds.values()) {
    if (hold.state === 'released') continue;
    holders.add(hold.userId);
    if (image.users.has(hold.userId)) continue;
    yield { kind: 'user_missing', subject: hold.orderId, evidence: textOf(hold), hold };
  }
  for (const user of image.users) {
    if (!holders.has(user)) yield { kind: 'user_extra', subject: user, evidence: '' };
  }
  for (const user of image.unseen) yield { kind: 'user_unseen', subject: user, evidence: '' };
}

function textOf(hold: Hold | undefined): string {
  return hold === undefined ? 'none' : `${hold.state}:${hold.quantity}:${hold.atMs}:${hold.userId}`;
}

/** Those of the second look that the first one has seen just so: nothing about them has moved in between. */
export function keepUnmoved(first: readonly Difference[], second: readonly Difference[]): Difference[] {
  const nameOf = ({ kind, subject, evidence }: Difference): string =>
    JSON.stringify([kind, subject, evidence]);
  const seen = new Set(first.map(nameOf));
  return second.filter((difference) => seen.has(nameOf(difference)));
}
