import { createHash } from 'node:crypto';
import type {
  Activity,
  ActivitySnapshot,
  FinishedNotice,
  NewOrder,
  OrderRepository,
} from '@lapse/order-repository';
import { v7 } from 'uuid';
import type { ModelDatabase } from '../src/model-database.ts';
import type { DatabaseStep, NewOrderStep } from './history.ts';

export interface Pair {
  readonly real: OrderRepository;
  readonly model: ModelDatabase;
  readonly activity: Activity;
  /** The id of each order by its number in the history. */
  readonly orderIds: Map<number, string>;
  readonly startMs: number;
  /** The attempt of each order that was begun last. */
  readonly attempts: Map<number, { readonly real: string; readonly model: string }>;
}

const hourMs = 3_600_000;
const userOf = (order: number): string => `user-${order % 3}`;

/** The same step on both: their answers, without what can not be equal (ids of rows, lateness). */
export async function playStep(pair: Pair, step: DatabaseStep): Promise<[unknown, unknown]> {
  const { real, model, activity } = pair;
  const ids = 'orders' in step && step.do !== 'create' ? step.orders.map((order) => idOf(pair, order)) : [];
  switch (step.do) {
    case 'create': {
      const orders = step.orders.map((order) => toNewOrder(pair, order));
      return plain(pair, await real.createOrders(orders), model.createOrders(orders));
    }
    case 'close':
      return plain(
        pair,
        await real.closeExpired(ids, { cause: 'message' }),
        model.closeExpired(ids, { cause: 'message' }),
      );
    case 'sweep': {
      const options = { graceMs: 1_000, limit: step.limit };
      return plain(pair, await real.closeOverdue(options), model.closeOverdue(options));
    }
    case 'remind':
      return plain(pair, await real.remindPending(ids), model.remindPending(ids));
    case 'rearm':
      return plain(pair, await real.rearm(step.phase, ids), model.rearm(step.phase, ids));
    case 'cancel': {
      const id = idOf(pair, step.order);
      const user = step.isOwn ? (model.tables.orders.get(id)?.userId ?? 'nobody') : 'somebody-else';
      return plain(pair, await real.cancelOrder(id, user), model.cancelOrder(id, user));
    }
    case 'sweepReminders':
      return plain(
        pair,
        await real.sweepReminders({ graceMs: 1_000, after: null }),
        model.sweepReminders({ graceMs: 1_000, after: null }),
      );
    case 'capacity': {
      const asked = operatorOf(step.key);
      return plain(
        pair,
        await real.changeCapacity(activity.id, step.capacity, asked, answered),
        model.changeCapacity(activity.id, step.capacity, asked, answered),
      );
    }
    case 'extend': {
      const id = idOf(pair, step.order);
      const asked = operatorOf(step.key + 10);
      const by = { byMs: step.hours * 2 * hourMs };
      return plain(
        pair,
        await real.extendOrder(id, by, asked, answered),
        model.extendOrder(id, by, asked, answered),
      );
    }
    case 'notices':
      return playNotices(pair, step.ends);
    case 'begin':
      return playBegin(pair, step.order, step.opens);
    case 'settle':
      return playSettle(pair, step.order, step.ends);
    case 'refunds':
      return playRefunds(pair, step.finishes);
    case 'kept':
      return playKept(pair, step.givesUp);
    case 'pay': {
      const id = idOf(pair, step.order);
      const amountMinor = (model.tables.orders.get(id)?.amountMinor ?? 100) + (step.isWrong ? 1 : 0);
      const returned = {
        amountMinor: step.returned === 'all' ? amountMinor : 1,
        refundId: null,
        refundRef: null,
      };
      const event = {
        eventId: `${activity.id}-event-${step.event}`,
        paymentId: `${activity.id}-payment-${step.payment}`,
        type: step.type,
        orderId: id,
        amountMinor,
        currency: 'CNY',
        occurredAt: new Date(pair.startMs),
        provider: 'model',
        ...(step.byAttempt ? { providerRef: refOf(pair, step.order) } : {}),
        ...(step.returned === 'none' ? {} : { returned }),
      };
      return plain(pair, await real.recordPayment(event), model.recordPayment(event));
    }
    case 'fence': {
      const holds = [...new Set(step.orders)].map((order) => {
        return { orderId: idOf(pair, order), activityId: activity.id, userId: userOf(order), quantity: 1 };
      });
      return plain(pair, await real.fenceOrphans(holds), model.fenceOrphans(holds));
    }
    case 'effects':
      return playEffects(pair, step.apply);
    case 'outbox':
      return playOutbox(pair, step.next);
    case 'rebuild':
      return playRebuild(pair, step.ends);
    case 'look': {
      const keys = step.orders.map((order) => ({ userId: userOf(order), idempotencyKey: `key-${order}` }));
      return plain(
        pair,
        [
          await real.readStatuses(ids),
          await real.findOrdersByKey(keys),
          await real.readActivity(activity.id),
        ],
        [model.readStatuses(ids), model.findOrdersByKey(keys), model.readActivity(activity.id)],
      );
    }
  }
}

/** The one attempt of an order that this history opens at the provider; its ids differ in the two. */
async function playBegin(pair: Pair, order: number, opens: boolean): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const orderId = idOf(pair, order);
  const userId = model.tables.orders.get(orderId)?.userId ?? 'nobody';
  const wanted = { orderId, userId, provider: 'model' };
  const fromReal = await real.openAttempt(wanted);
  const fromModel = model.openAttempt(wanted);
  if (opens && fromReal.kind === 'open' && fromModel.kind === 'open') {
    const created = { providerRef: refOf(pair, order), payUrl: 'https://pay.example', clientSecret: null };
    await real.markAttemptOpen(fromReal.attempt.id, created);
    model.markAttemptOpen(fromModel.attempt.id, created);
  }
  if (fromReal.kind === 'open' && fromModel.kind === 'open') {
    pair.attempts.set(order, { real: fromReal.attempt.id, model: fromModel.attempt.id });
  }
  return plain(pair, fromReal, fromModel);
}

async function playSettle(
  pair: Pair,
  order: number,
  ends: 'CANCELLED' | 'FAILED',
): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const claim = { provider: 'model', limit: 100, leaseMs: 0 };
  const due = [await real.claimDueAttempts(claim), model.claimDueAttempts(claim)] as const;
  const ids = pair.attempts.get(order);
  if (!ids) return plain(pair, sorted(due[0]), sorted(due[1]));
  const ended = [await real.endAttempt(ids.real, ends), model.endAttempt(ids.model, ends)] as const;
  return plain(pair, [sorted(due[0]), ended[0]], [sorted(due[1]), ended[1]]);
}

async function playRefunds(pair: Pair, finishes: boolean): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const claim = { provider: 'model', limit: 100, leaseMs: 0 };
  const fromReal = await real.claimRefunds(claim);
  const fromModel = model.claimRefunds(claim);
  for (const job of fromReal) {
    const { id, refundId } = job;
    if (finishes) await real.finishRefund(id, { refundId, refundRef: 'back' });
    else await real.failRefund(job, { inMs: hourMs, error: 'later' });
  }
  for (const job of fromModel) {
    const { id, refundId } = job;
    if (finishes) model.finishRefund(id, { refundId, refundRef: 'back' });
    else model.failRefund(job, { inMs: hourMs, error: 'later' });
  }
  return plain(pair, sorted(fromReal), sorted(fromModel));
}

async function playKept(pair: Pair, givesUp: boolean): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const options = { limit: 100, retryMs: 0 };
  const claimed = [await real.claimWaitingPayments(options), model.claimWaitingPayments(options)] as const;
  if (!givesUp) return plain(pair, sorted(claimed[0]), sorted(claimed[1]));
  const old = { olderThanMs: 0, limit: 100 };
  return plain(pair, (await real.giveUpWaitingPayments(old)).sort(), model.giveUpWaitingPayments(old).sort());
}

function refOf({ activity }: Pair, order: number): string {
  return `${activity.id}-ref-${order}`;
}

function operatorOf(key: number) {
  return {
    actor: 'operator',
    reason: 'test',
    idempotency: { key: `key-${key}`, requestHash: Buffer.alloc(32) },
  };
}

function answered() {
  return { status: 200, body: Buffer.from('done') };
}

async function playEffects(pair: Pair, apply: boolean): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const options = { olderThanMs: 0, limit: 100 };
  const fromReal = await real.listPendingEffects(options);
  const fromModel = model.listPendingEffects(options);
  if (apply) {
    await real.markEffectsApplied(fromReal.map(({ id }) => id));
    model.markEffectsApplied(fromModel.map(({ id }) => id));
  }
  return plain(pair, sorted(fromReal), sorted(fromModel));
}

/** Closed batches become notices, some of which are claimed and, unless their caller dies, finished. */
async function playNotices(
  pair: Pair,
  ends: 'SENT' | 'PARKED' | 'WAITING' | null,
): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const expanded = [await real.expandClosedNotices(10), model.expandClosedNotices(10)];
  const options = { limit: 100, leaseMs: hourMs };
  const fromReal = await real.claimNotifications(options);
  const fromModel = model.claimNotifications(options);
  if (ends !== null) {
    const outcome = ends === 'SENT' ? { state: ends } : { state: ends, retryInMs: hourMs, error: 'refused' };
    const finish = async (finished: Pick<FinishedNotice, 'outcome'>): Promise<void> => {
      await real.finishNotifications(fromReal.map((claim) => ({ claim, ...finished })));
      model.finishNotifications(fromModel.map((claim) => ({ claim, ...finished })));
    };
    await finish({ outcome });
    // A claim that is over changes nothing.
    await finish({ outcome: { state: 'SKIPPED' } });
  }
  return plain(pair, [expanded[0], sorted(fromReal)], [expanded[1], sorted(fromModel)]);
}

async function playOutbox(pair: Pair, next: 'send' | 'fail' | 'nothing'): Promise<[unknown, unknown]> {
  const { real, model } = pair;
  const options = { olderThanMs: 0, limit: 100, leaseMs: hourMs };
  const fromReal = await real.claimOutbox(options);
  const fromModel = model.claimOutbox(options);
  if (next === 'send') {
    const sent = (rows: readonly { id: string }[]) =>
      rows.map(({ id }) => ({ id, messageId: 'm', deliverAt: hourMs }));
    await real.markOutboxSent(sent(fromReal));
    model.markOutboxSent(sent(fromModel));
  } else if (next === 'fail') {
    const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
    await real.markOutboxFailed(ids(fromReal), 'no broker');
    model.markOutboxFailed(ids(fromModel), 'no broker');
  }
  return plain(pair, sorted(fromReal), sorted(fromModel));
}

async function playRebuild(pair: Pair, ends: boolean): Promise<[unknown, unknown]> {
  const { real, model, activity } = pair;
  let fromReal: unknown;
  const undone = new Error('undone');
  try {
    await real.rebuildSnapshot(activity.id, async (snapshot) => {
      fromReal = inOrder(snapshot);
      if (!ends) throw undone;
      return 'run 1';
    });
  } catch (error) {
    if (error !== undone && (error as Error).cause !== undone) throw error;
  }
  const snapshot = model.beginRebuild(activity.id);
  if (snapshot && ends) model.commitRebuild(snapshot, 'run 1');
  else model.rollBackRebuild(activity.id);
  return plain(pair, fromReal, snapshot && inOrder(snapshot));
}

function inOrder(snapshot: ActivitySnapshot): ActivitySnapshot {
  const { holds, formerBuyers } = snapshot;
  return { ...snapshot, holds: sorted(holds), formerBuyers: formerBuyers && sorted(formerBuyers) };
}

function idOf({ orderIds }: Pair, order: number): string {
  const id = orderIds.get(order) ?? v7();
  orderIds.set(order, id);
  return id;
}

/** `due: now` is an hour overdue, `to remind` half way, so that no step of the test's own time decides anything. */
function toNewOrder(pair: Pair, { order, user, key, quantity, due, isStale }: NewOrderStep): NewOrder {
  const { activity, startMs, model } = pair;
  // A millisecond apart: the sweep takes the earliest first.
  const timeOf = (isDue: boolean) => new Date((isDue ? startMs - hourMs : startMs + hourMs) + order);
  const generation = model.tables.activities.get(activity.id)?.generation ?? 1;
  return {
    id: idOf(pair, order),
    activityId: activity.id,
    generation: generation + (isStale ? 1 : 0),
    userId: `user-${user}`,
    quantity,
    amountMinor: 100 * quantity,
    currency: 'CNY',
    locale: 'en',
    createdAt: new Date(startMs),
    remindAt: timeOf(due !== 'later'),
    expiresAt: timeOf(due === 'now'),
    idempotencyKey: `key-${key}`,
    requestHash: createHash('sha256').update(`${quantity}`).digest(),
  };
}

/** Times that the database set are a yes or a no; ids of its rows and lateness are nothing to compare. */
const unequal: ReadonlySet<string> = new Set([
  ...['latenessMs', 'lateMs', 'dueInMs', 'createdAt', 'name', 'refundId', 'waitedMs', 'occurredAt'],
]);
const yesOrNo: ReadonlySet<string> = new Set(['remindedAt', 'paidAt', 'closedAt', 'endedAt']);
const pastOrNot: ReadonlySet<string> = new Set(['remindAt', 'expiresAt', 'dueTime', 'settleAt']);

function plain(pair: Pair, real: unknown, model: unknown): [unknown, unknown] {
  const orderIds = new Set(pair.orderIds.values());
  return [toPlain(real, orderIds), toPlain(model, orderIds)];
}

function toPlain(value: unknown, orderIds: ReadonlySet<string>): unknown {
  const text = JSON.stringify(value, (key, part) => {
    if (unequal.has(key)) return undefined;
    if (yesOrNo.has(key)) return part !== null;
    if (pastOrNot.has(key)) return new Date(part).getTime() <= Date.now();
    if (part instanceof Map) return [...part].sort();
    // Rows of the database's own have other ids here and there; only an order's is the same.
    const isRowId = key === 'id' && !orderIds.has(String(part));
    if (isRowId) return undefined;
    if (key === 'orderIds' || key === 'contended' || key === 'settled' || key === 'unknown')
      return [...part].sort();
    if (!Array.isArray(part)) return part;
    if (key === 'closed' || key === 'reminded' || key === 'effects') return sorted(part);
    if (key === 'fenced' || key === 'notDue' || key === 'settling') return sorted(part);
    return part;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** Rows in an order of their own, whatever order of fields they have. */
function sorted<T extends object | string>(rows: readonly T[]): T[] {
  const nameOf = (row: T): string => {
    const fields = typeof row === 'string' ? [row] : Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify(fields, (key, part) => (unequal.has(key) || key === 'id' ? undefined : part));
  };
  const isRowId = ([key]: readonly [string, unknown]): boolean => key === 'id' || unequal.has(key);
  const named = rows.map((row) => {
    const known =
      typeof row === 'string' ? row : Object.fromEntries(Object.entries(row).filter((one) => !isRowId(one)));
    return { row, name: nameOf(known as T) };
  });
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => row);
}
