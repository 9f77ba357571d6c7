import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes, idToBytes, sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { expandEffects } from './expand-effects.ts';
import type { Order } from './order.ts';
import type { RepositoryLog } from './order-repository.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { readArchivedOrders } from './read-archived-orders.ts';
import { type OrderEvent, placeOfRefund, readOrderEvents } from './read-order-events.ts';
import { releaseNextEvents } from './release-next-events.ts';
import type { Session } from './session.ts';
import type { ShopEventType } from './shop-event.ts';

/** Orders of one statement: their events make about 1 MB of SQL, far from a packet's 16. */
const ordersPerInsertMax = 500;

/**
 * Turn "something happened to these orders" into one row per order and event. Whatever effect of an order comes
 * first brings the whole history of the order so far, each event under an id that is made of what it says:
 * so it does not matter in which order effects are expanded, by how many at once, or how often, and an
 * event is never there without those before it. What `expandEffects` guarantees holds here.
 * @returns how many effects were done; 0: none is left that is free.
 */
export function expandShopEvents(database: Database, log: RepositoryLog, limit: number): Promise<number> {
  return expandEffects(database, log, { kind: 'shop_event', limit }, async (session, orderIds) => {
    const ids = sortedIdBytes(orderIds);
    for (let at = 0; at < ids.length; at += ordersPerInsertMax) {
      await insertEvents(session, ids.slice(at, at + ordersPerInsertMax));
    }
  });
}

async function insertEvents(session: Session, ids: readonly Buffer[]): Promise<void> {
  const events = await readOrderEvents(session, ids);
  const known = await session.rows<{ event_id: Buffer }>(
    'SELECT event_id FROM shop_event WHERE order_id IN (?)',
    [ids],
  );
  const knownIds = new Set(known.map(({ event_id }) => idFromBytes(event_id)));
  const fresh = events.filter(({ eventId }) => !knownIds.has(eventId));
  if (fresh.length > 0) await insertFresh(session, fresh);
  // Also when nothing is new: another expander may have written these rows while this one looked.
  await releaseNextEvents(session, ids);
}

/**
 * Money for an order that never came goes back too: that refund is of no order, and the shop, which knows none, is
 * told of none. Should the order come after all, its next event brings the refund with it.
 */
async function insertFresh(session: Session, events: readonly OrderEvent[]): Promise<void> {
  const rows = await session.rows<OrderRow & { now: Date }>(
    `SELECT ${orderColumns}, NOW(3) AS now FROM orders WHERE id IN (?)`,
    [sortedIdBytes(events.map(({ orderId }) => orderId))],
  );
  const live = new Map(rows.map((row) => [idFromBytes(row.id), { order: toOrder(row), now: row.now }]));
  const told = events.flatMap((event) => {
    const found = live.get(event.orderId);
    return found ? [{ event, ...found }] : [];
  });
  const others = events.filter(({ orderId }) => !live.has(orderId));
  if (others.length > 0) told.push(...(await findArchived(session, others)));
  if (told.length === 0) return;
  const values = told.map(({ event, order, now }) => {
    const { eventId, orderId, seq, type } = event;
    return [idToBytes(eventId), idToBytes(orderId), seq, type, bodyOf(event, order), now, now];
  });
  await session.run(
    `INSERT INTO shop_event (event_id, order_id, seq, type, body, next_attempt_at, created_at) VALUES ?
     ON DUPLICATE KEY UPDATE id = shop_event.id`,
    [values],
  );
}

interface Told {
  readonly event: OrderEvent;
  readonly order: Order;
  readonly now: Date;
}

/**
 * Money that came for an archived order goes back as well, and its history alone knows the event's place. What the order
 * had told by the day of the archive was delivered by then, or it would have stayed.
 */
async function findArchived(session: Session, events: readonly OrderEvent[]): Promise<Told[]> {
  const archived = await readArchivedOrders(session, sortedIdBytes(events.map(({ orderId }) => orderId)));
  return events.flatMap((event) => {
    const found = archived.get(event.orderId);
    if (found === undefined || event.at <= found.archivedAt) return [];
    const { order, now, transitions, remindedAt } = found;
    return [{ event: { ...event, seq: placeOfRefund(event.at, transitions, remindedAt) }, order, now }];
  });
}

/** The order's status right after the event. A refund changes none. */
const statusAfter: Readonly<Partial<Record<ShopEventType, OrderStatus>>> = {
  created: 'PENDING',
  reminded: 'PENDING',
  paid: 'PAID',
  closed: 'TIMEOUT_CLOSED',
  cancelled: 'CANCELLED',
};

/** The JSON that is delivered, the same bytes each time: type, timestamp, data, per Standard Webhooks. */
function bodyOf(
  { type, seq, at, paymentId }: OrderEvent,
  { id, activityId, userId, quantity, amountMinor, currency, createdAt, remindAt, expiresAt }: Order,
): string {
  const order = { orderId: id, activityId, userId, quantity, amountMinor, currency };
  return JSON.stringify({
    type: `order.${type}`,
    timestamp: at,
    data: {
      ...order,
      ...(statusAfter[type] && { status: statusAfter[type] }),
      sequence: seq,
      createdAt,
      remindAt,
      expiresAt,
      ...(paymentId !== null && { paymentId }),
    },
  });
}
