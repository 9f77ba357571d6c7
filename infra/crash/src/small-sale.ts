import type { ActivityView, OrderView } from '@lapse/contracts';
import type { Activity } from '@lapse/order-repository';
import { placeOrders } from '@lapse/test-shop';
import { checkInvariants, describeVerdict, waitUntil } from '@lapse/testing';
import { v7 as uuidv7 } from 'uuid';
import {
  beginPayment,
  buy,
  cancel,
  cancelByOperator,
  capture,
  openActivity,
  operate,
  payBehind,
} from './buyers.ts';
import { parkAndRedrive, payWrong } from './by-hand.ts';
import type { CrashWorld } from './crash-world.ts';

const capacity = 30;
const payWithinMs = 1_500;
const farMs = 3_600_000;
const oldSaleName = 'Long over';
/** A restart, a redelivery after the invisible time, and the sweeps. */
const restTimeoutMs = 60_000;
/** What reminders that died one after the other had each claimed waits for the last lease: `expectNoticesSent`. */
const noticeWaitMs = 600_000;

export interface SaleOptions {
  /** With orders whose deadline moves, so that their messages are armed again. Takes up to a redelivery longer. */
  readonly moved: boolean;
}

/**
 * A sale in which every effect of every process happens: buyers who pay, cancel and leave, and beside them what
 * a process that died a moment ago would have left, so that the safety net has its work too.
 */
export async function runSmallSale(world: CrashWorld, { moved }: SaleOptions): Promise<void> {
  const activity = await openActivity(world, capacity, payWithinMs);
  const orders = await Promise.all(
    ['payer', 'payer-too', 'canceller', 'leaver', 'late-payer', 'beginner', 'mispayer', 'withdrawn'].map(
      (who) => buyOne(world, activity, who),
    ),
  );
  const [paid, paidToo, cancelled, left, late, begun, mispaid, withdrawn] = orders as [
    OrderView,
    OrderView,
    OrderView,
    OrderView,
    OrderView,
    OrderView,
    OrderView,
    OrderView,
  ];
  // Before Redis loses anything: a confirm or release that meets no stock would be left to the sweeper.
  await Promise.all([
    capture(world, paid),
    capture(world, paidToo),
    beginPayment(world, begun, `beginner-${activity.id}`),
    operate(world, activity.id, left),
    cancel(world, cancelled, `canceller-${activity.id}`),
    cancelByOperator(world, withdrawn),
  ]);
  await loseStock(world, activity.id);
  // Cancelled, and paid all the same: paid back by the settler.
  await payBehind(world, cancelled);
  await payUnwritten(world, activity.id);
  await Promise.all([payWrong(world, mispaid), parkAndRedrive(world, left)]);
  await leaveTracks(world, activity.id);
  if (moved) await moveDeadlines(world, activity.id);
  await payLate(world, late);
}

function buyOne(world: CrashWorld, activity: ActivityView, who: string): Promise<OrderView> {
  return buy(world, activity.id, `${who}-${activity.id}`);
}

/** Paid after its close: the order gets a place again, or its money back. */
async function payLate(world: CrashWorld, order: OrderView): Promise<void> {
  const { shop } = world;
  await waitUntil(async () => (await shop.orders.readOrder(order.id))?.status !== 'PENDING', {
    what: "the late payer's order to close",
    timeoutMs: restTimeoutMs,
  });
  await payBehind(world, order);
  await waitUntil(async () => (await shop.orders.readOrder(order.id))?.status === 'PAID', {
    what: 'the late payment to be taken',
    timeoutMs: restTimeoutMs,
  });
}

/** A payment that comes before its order is there: kept, and applied once it is. */
async function payUnwritten(world: CrashWorld, activityId: number): Promise<void> {
  const { shop } = world;
  const activity = await readLoaded(world, activityId);
  const id = uuidv7();
  const { priceMinor: amountMinor, currency } = activity;
  await capture(world, { id, amountMinor, currency });
  await placeOrders(shop, activity, 1, { remindInMs: farMs - 1, expireInMs: farMs }, [id]);
}

/** Redis loses its data: sales refuse, and the sweeper loads the stock again. */
async function loseStock(world: CrashWorld, activityId: number): Promise<void> {
  await world.shop.flushRedis();
  await readLoaded(world, activityId);
}

/** The activity as it is once Redis has the generation that MySQL has: a load may still be under way. */
async function readLoaded({ shop }: CrashWorld, activityId: number): Promise<Activity> {
  let activity: Activity | undefined;
  const isLoaded = async (): Promise<boolean> => {
    activity = await shop.orders.readActivity(activityId);
    const load = await shop.stock.readLoad(activityId);
    return load?.generation === activity?.generation && load?.runId === activity?.stockRunId;
  };
  await waitUntil(isLoaded, { what: 'the stock to be loaded', timeoutMs: restTimeoutMs });
  if (!activity) throw new Error('the activity is gone');
  return activity;
}

/** What processes leave behind when they die between two effects. */
async function leaveTracks(world: CrashWorld, activityId: number): Promise<void> {
  const { shop } = world;
  const activity = await readLoaded(world, activityId);
  const soon = { remindInMs: 100, expireInMs: 600 };
  // A hold whose order was never written. Refused when the stock is being loaded: then it left nothing.
  await shop.stock.reserve({
    ...activity,
    activityId,
    orderId: uuidv7(),
    userId: `nobody ${activityId}`,
    quantity: 1,
  });
  // Orders whose message was never sent; of one, the message was sent and lost.
  await placeOrders(shop, activity, 2, soon);
  const lost = await placeOrders(shop, activity, 1, soon);
  await shop.orders.markOutboxSent(
    lost.outbox.map(({ id }) => ({ id, messageId: 'lost', deliverAt: Date.now() })),
  );
  // Committed in MySQL, and Redis was never told.
  const told = await placeOrders(shop, activity, 2, { remindInMs: 100, expireInMs: farMs });
  const [first = '', second = ''] = told.ids;
  await shop.orders.cancelOrder(first, `buyer ${first}`);
  await recordCapture(world, second, activity);
  // A place more: another one than the operator's, so that Redis is owed it.
  const byHand = { actor: 'operator', reason: 'a chair was found' };
  const answer = { status: 200, body: Buffer.from('{}') };
  await shop.orders.changeCapacity(activityId, activity.capacity + 1, byHand, () => answer);
  // Closed, paid late and taken up again: two steps that Redis is owed, one after the other.
  const late = await placeOrders(shop, activity, 1, { remindInMs: -2, expireInMs: -1 });
  await shop.orders.closeExpired(late.ids, { cause: 'message' });
  for (const id of late.ids) await recordCapture(world, id, activity);
  await leaveOld(world, activity);
  await leaveOldSale(world);
}

/** Cancelled days ago, and all done that there was to do. */
async function leaveOld({ shop }: CrashWorld, activity: Activity): Promise<void> {
  const old = await placeOrders(shop, activity, 2, { remindInMs: farMs - 1, expireInMs: farMs });
  for (const id of old.ids) await shop.orders.cancelOrder(id, `buyer ${id}`);
  const ids = old.ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'));
  await shop.query(
    `UPDATE orders SET idempotency_key = NULL, created_at = created_at - INTERVAL 3 DAY,
       remind_at = remind_at - INTERVAL 3 DAY, expires_at = expires_at - INTERVAL 3 DAY,
       closed_at = closed_at - INTERVAL 3 DAY WHERE id IN (?)`,
    [ids],
  );
  await shop.query('UPDATE order_transition SET at = at - INTERVAL 3 DAY WHERE order_id IN (?)', [ids]);
}

/** A sale that has been over for days, with an order that was paid: all of it is to be archived. */
async function leaveOldSale(world: CrashWorld): Promise<void> {
  const { shop } = world;
  const { id: saleId } = await openActivity(world, 5, farMs);
  const sale = await readLoaded(world, saleId);
  const sold = await placeOrders(shop, sale, 1, { remindInMs: farMs - 1, expireInMs: farMs });
  for (const id of sold.ids) await recordCapture(world, id, sale);
  const ids = sold.ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex'));
  await shop.query(
    `UPDATE orders SET idempotency_key = NULL, created_at = created_at - INTERVAL 3 DAY,
       remind_at = remind_at - INTERVAL 3 DAY, expires_at = expires_at - INTERVAL 3 DAY,
       paid_at = paid_at - INTERVAL 3 DAY WHERE id IN (?)`,
    [ids],
  );
  await shop.query('UPDATE order_transition SET at = at - INTERVAL 3 DAY WHERE order_id IN (?)', [ids]);
  await shop.query(
    `UPDATE activity SET created_at = created_at - INTERVAL 3 DAY, sale_ends_at = NOW(3) - INTERVAL 3 DAY, name = ?
     WHERE id = ?`,
    [oldSaleName, saleId],
  );
}

/** Messages that come for orders whose deadline was moved meanwhile. */
async function moveDeadlines(world: CrashWorld, activityId: number): Promise<void> {
  const { shop, broker } = world;
  const activity = await readLoaded(world, activityId);
  const before = await countRearmed(world);
  const moved = await placeOrders(shop, activity, 2, { remindInMs: farMs - 1, expireInMs: farMs });
  const early = (index: number) =>
    moved.closeDue.slice(index, index + 1).map((due) => ({ ...due, dueTime: Date.now() }));
  await broker.sender.send({ version: 1, phase: 1, dueTime: Date.now(), orders: early(0) }, Date.now());
  await broker.sender.send({ version: 1, phase: 2, dueTime: Date.now(), orders: early(1) }, Date.now());
  await waitUntil(async () => (await countRearmed(world)) >= before + 2, {
    what: 'moved orders to be armed again',
    timeoutMs: restTimeoutMs,
  });
  for (const id of moved.ids) await shop.orders.cancelOrder(id, `buyer ${id}`);
}

/** Messages that wait in the broker for the far deadline. */
function countRearmed({ shop }: CrashWorld): Promise<number> {
  return shop.count(
    'SELECT COUNT(*) FROM message_outbox WHERE due_at > NOW(3) + INTERVAL 30 MINUTE AND order_count = 1',
  );
}

async function recordCapture({ shop }: CrashWorld, orderId: string, activity: Activity): Promise<void> {
  await shop.orders.recordPayment({
    eventId: `evt ${orderId}`,
    type: 'payment.captured',
    paymentId: `pay ${orderId}`,
    orderId,
    amountMinor: activity.priceMinor,
    currency: activity.currency,
    occurredAt: new Date(),
  });
}

/** Wait until nothing is due or owed any more, then let the oracle judge. @throws naming what it found. */
export async function expectRest({ shop }: CrashWorld): Promise<void> {
  const owed = `SELECT (SELECT COUNT(*) FROM orders WHERE status = 'PENDING')
    + (SELECT COUNT(*) FROM payment_attempt WHERE state IN ('CREATING', 'OPEN'))
    + (SELECT COUNT(*) FROM payment WHERE state IN ('WAITING', 'REFUND_PENDING'))
    + (SELECT COUNT(*) FROM activity WHERE name = '${oldSaleName}'
      AND (archived_at IS NULL OR stock_run_id IS NOT NULL))
    + (SELECT COUNT(*) FROM effect) + (SELECT COUNT(*) FROM message_outbox WHERE sent_at IS NULL)`;
  await waitUntil(async () => (await shop.count(owed)) === 0 && (await countHeld(shop)) === 0, {
    what: 'everything owed to be done',
    timeoutMs: restTimeoutMs,
    everyMs: 100,
  });
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: true,
    noticeWaitMs,
    shopWantsEvents: true,
  });
  if (verdict.failed.length > 0) throw new Error(describeVerdict(verdict));
}

/**
 * A notice or event for the shop that a dead process had claimed goes out when its lease ends: waited for once,
 * after all the sales; and then the paid order of each old sale goes to the archive.
 */
export async function expectNoticesSent({ shop }: CrashWorld): Promise<void> {
  const unsent = `SELECT (SELECT COUNT(*) FROM notification WHERE state = 'WAITING')
    + (SELECT COUNT(*) FROM shop_event WHERE state IN ('WAITING', 'HELD'))
    + (SELECT COUNT(*) FROM activity WHERE name = '${oldSaleName}' AND sold_archived_orders = 0)`;
  await waitUntil(async () => (await shop.count(unsent)) === 0, {
    what: 'all notices and events to be sent',
    timeoutMs: restTimeoutMs,
    everyMs: 100,
  });
}

async function countHeld(shop: CrashWorld['shop']): Promise<number> {
  const ids = await shop.query('SELECT id FROM activity WHERE archived_at IS NULL ORDER BY id DESC LIMIT 3');
  const counts = await Promise.all(ids.map(({ id }) => shop.stock.readCounts(Number(id))));
  return counts.reduce((sum, each) => sum + (each?.held ?? 1), 0);
}
