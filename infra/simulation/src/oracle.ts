import type { ModelBroker } from './model-broker.ts';
import type { ModelDatabase } from './model-database.ts';
import type { ModelProvider } from './model-provider.ts';
import type { ModelRedis } from './model-redis.ts';
import { isActive, isOpen, type OrderRow, type Tables } from './model-rows.ts';
import { type ObservedAnswer, retriableCodes } from './observed.ts';

/** What the oracle looks at: the stores as they are, and what was seen from outside. */
interface Judged {
  readonly database: Pick<ModelDatabase, 'tables'>;
  readonly redis: Pick<ModelRedis, 'activities' | 'runId'>;
  readonly broker: Pick<ModelBroker, 'messages'>;
  readonly answers: readonly ObservedAnswer[];
  readonly provider: Pick<ModelProvider, 'attempts' | 'captures' | 'refunds'>;
  readonly unsettled: number;
}

/** An invariant of the design that does not hold, and for whom. */
export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

/** What must hold after every single step. */
export function checkAlways({
  database: { tables },
  redis,
}: {
  readonly database: Judged['database'];
  readonly redis: Pick<ModelRedis, 'activities'>;
}): Violation[] {
  const found: Violation[] = [];
  for (const { id, capacity, available } of tables.activities.values()) {
    const taken = sum([...tables.orders.values()].filter((row) => row.activityId === id && isActive(row)));
    if (taken > capacity)
      found.push({ invariant: 'I1', what: `activity ${id}: ${taken} of ${capacity} sold` });
    if (available !== capacity - taken || available < 0) {
      found.push({
        invariant: 'I1',
        what: `activity ${id}: ${available} available, ${taken} of ${capacity} taken`,
      });
    }
  }
  for (const [id, { stock, holds, capacity }] of redis.activities) {
    const kept = sum([...holds.values()].filter(({ state }) => state !== 'released'));
    if (stock < 0 || stock + kept !== capacity) {
      found.push({
        invariant: 'I2',
        what: `activity ${id}: stock ${stock}, holds ${kept}, capacity ${capacity}`,
      });
    }
  }
  for (const { id, activityId, status } of tables.orders.values()) {
    const hold = redis.activities.get(activityId)?.holds.get(id);
    if (status !== 'PENDING' || hold?.state !== 'released') continue;
    found.push({ invariant: 'I3', what: `order ${id} is pending, and Redis has given its place back` });
  }
  return found;
}

/** What must hold once the faults have stopped and everything has run to rest. */
export function checkAtRest(world: Judged): Violation[] {
  return [
    ...checkAlways(world),
    ...checkOrders(world),
    ...checkStores(world),
    ...checkNotices(world),
    ...checkMoney(world),
    ...checkAnswers(world),
    ...checkRepeats(world),
    ...checkLeftovers(world),
  ];
}

/** I4, I5, I6, I7: each order's ledger. */
function checkOrders({ database: { tables } }: Judged): Violation[] {
  const found: Violation[] = [];
  for (const order of tables.orders.values()) {
    const ledger = tables.transitions.filter(({ orderId }) => orderId === order.id);
    const moves = ledger.filter(({ from }) => from !== null);
    const credit = ledger.reduce((total, row) => total + row.credit - row.debit, 0);
    const isClosed = order.status === 'TIMEOUT_CLOSED' || order.status === 'CANCELLED';
    const say = (invariant: string, what: string) =>
      found.push({ invariant, what: `order ${order.id} ${what}` });
    const edges = moves.map(({ from, to, cause }) => `${from}->${to} ${cause === 'payment' ? 'paid' : ''}`);
    const [first, second, ...more] = edges;
    // Once out of PENDING, and once back for a payment that came late.
    const isLate = first?.startsWith('PENDING->TIMEOUT_CLOSED') && second === 'TIMEOUT_CLOSED->PAID paid';
    if ((second && !isLate) || more.length > 0 || (first && !first.startsWith('PENDING->'))) {
      say('I4', `moved ${edges.join(', ')}`);
    }
    if (credit !== (isClosed ? order.quantity : 0)) {
      say(
        order.status === 'PAID' ? 'I6' : 'I5',
        `is ${order.status} with ${credit} given back of ${order.quantity}`,
      );
    }
    for (const { to, atMs } of moves) {
      const earlyMs = order.expiresAt.getTime() - atMs;
      if (to !== 'TIMEOUT_CLOSED') continue;
      if (earlyMs > 0) say('I7', `closed ${earlyMs} ms early`);
      if (isBeingPaid(tables, order, atMs)) say('I7', 'closed while it was being paid');
    }
    if (order.status === 'PENDING') say('I8', 'is still pending');
  }
  return found;
}

/** Of an attempt the provider has not said yet what became of it, and the grace for that is not over. */
function isBeingPaid({ activities, attempts }: Tables, order: OrderRow, atMs: number): boolean {
  const graceMs = activities.get(order.activityId)?.paymentGraceMs ?? 0;
  if (atMs >= order.expiresAt.getTime() + graceMs) return false;
  return [...attempts.values()].some(
    ({ orderId, createdAt, endedAt }) =>
      orderId === order.id && createdAt.getTime() <= atMs && (endedAt?.getTime() ?? atMs + 1) > atMs,
  );
}

/** I3: Redis says what MySQL says, and sells. */
function checkStores({ database: { tables }, redis }: Judged): Violation[] {
  const found: Violation[] = [];
  for (const activity of tables.activities.values()) {
    const say = (what: string) => found.push({ invariant: 'I3', what: `activity ${activity.id}: ${what}` });
    const state = redis.activities.get(activity.id);
    if (!state) {
      say('is not loaded');
      continue;
    }
    if (state.generation !== activity.generation) {
      say(`generation ${state.generation} in Redis, ${activity.generation} in MySQL`);
    }
    if (redis.runId() !== activity.stockRunId) {
      say(`loaded into ${activity.stockRunId}, and sales refuse in ${redis.runId()}`);
    }
    if (state.capacity !== activity.capacity)
      say(`capacity ${state.capacity}, ${activity.capacity} in MySQL`);
    if (state.stock !== activity.available) say(`stock ${state.stock}, available ${activity.available}`);
    const active = [...tables.orders.values()].filter(
      (row) => row.activityId === activity.id && isActive(row),
    );
    const wanted = active.map(({ id, status }) => `${id} ${status === 'PAID' ? 'sold' : 'held'}`);
    const kept = [...state.holds.values()].filter((hold) => hold.state !== 'released');
    for (const difference of differences(
      kept.map(({ orderId, state: held }) => `${orderId} ${held}`),
      wanted,
    )) {
      say(`hold ${difference}`);
    }
    for (const difference of differences(
      [...state.users],
      active.map(({ userId }) => userId),
    )) {
      say(`user ${difference}`);
    }
  }
  return found;
}

function differences(redis: readonly string[], mysql: readonly string[]): string[] {
  return [
    ...redis.filter((one) => !mysql.includes(one)).map((one) => `${one} in Redis alone`),
    ...mysql.filter((one) => !redis.includes(one)).map((one) => `${one} in MySQL alone`),
  ];
}

/** I9 and I11: one notice per order and stage, no reminder of what is not pending, and none lost or left behind. */
function checkNotices({ database: { tables } }: Judged): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const { orderId, stage, status, state } of tables.notices) {
    const name = `${stage} notice of order ${orderId}`;
    if (seen.has(name)) found.push({ invariant: 'I9', what: `second ${name}` });
    seen.add(name);
    if (stage === 'REMINDER' && status !== 'PENDING') {
      found.push({ invariant: 'I9', what: `${name}, which is ${status}` });
    }
    if (state === 'WAITING') found.push({ invariant: 'I11', what: `${name} was never delivered` });
  }
  for (const { orderId, to } of tables.transitions) {
    if (to !== 'TIMEOUT_CLOSED' || seen.has(`CLOSED notice of order ${orderId}`)) continue;
    found.push({ invariant: 'I11', what: `the buyer of order ${orderId} is never told that it closed` });
  }
  for (const order of tables.orders.values()) {
    if (!wasRemindedInTime(order) || seen.has(`REMINDER notice of order ${order.id}`)) continue;
    found.push({ invariant: 'I11', what: `order ${order.id} was claimed for a reminder that is not there` });
  }
  return found;
}

/** By the deadline that it had then: a move before the claim moved both times, and one after it neither. */
function wasRemindedInTime({
  remindedAt,
  remindAt,
  firstRemindAt,
  expiresAt,
  firstExpiresAt,
}: OrderRow): boolean {
  const windowMs = (firstExpiresAt ?? expiresAt).getTime() - (firstRemindAt ?? remindAt).getTime();
  return remindedAt !== null && remindedAt.getTime() < remindAt.getTime() + windowMs;
}

/** I6: all money is accounted for: each capture pays its order, or went back once, or waits for a person. */
function checkMoney({ database: { tables }, provider }: Judged): Violation[] {
  const found: Violation[] = [];
  const say = (what: string) => found.push({ invariant: 'I6', what });
  for (const { paymentId, orderId } of provider.captures) {
    const rows = tables.payments.filter(
      ({ event }) => event.paymentId === paymentId && event.type === 'payment.captured',
    );
    const states = rows.map(({ state }) => state).join(', ');
    const back = [...provider.refunds.values()].filter((refund) => refund.paymentId === paymentId).length;
    const name = `capture ${paymentId} of order ${orderId}`;
    if (!['CAPTURED', 'REFUNDED', 'QUARANTINED'].includes(states)) say(`${name} is ${states || 'unknown'}`);
    if (back !== (states === 'REFUNDED' ? 1 : 0)) say(`${name} is ${states} and was paid back ${back} times`);
  }
  for (const { id, status } of tables.orders.values()) {
    const paid = tables.payments.filter(
      ({ event, state }) => event.orderId === id && state === 'CAPTURED',
    ).length;
    if (paid !== (status === 'PAID' ? 1 : 0)) say(`order ${id} is ${status} with ${paid} captured payments`);
  }
  for (const attempt of tables.attempts.values()) {
    const atProvider = provider.attempts.get(attempt.id)?.state;
    if (isOpen(attempt)) say(`attempt ${attempt.id} of order ${attempt.orderId} was never settled`);
    if (atProvider === 'open') say(`attempt ${attempt.id} is ${attempt.state}, and open at the provider`);
  }
  return found;
}

/** I10: what buyers were told is true, and one key is one order. */
function checkAnswers({ database: { tables }, answers }: Judged): Violation[] {
  const found: Violation[] = [];
  const firstOf = new Map<string, { readonly id: string; readonly request: string; readonly text: string }>();
  for (const { userId, key, activityId, quantity, answer } of answers) {
    if (answer.kind === 'refused') continue;
    const { id } = answer.order;
    const request = `${activityId} x${quantity}`;
    const say = (what: string) => found.push({ invariant: 'I10', what: `key ${key} of ${userId}: ${what}` });
    const row: OrderRow | undefined = tables.orders.get(id);
    if (row?.userId !== userId || row.quantity !== quantity) say(`order ${id} was answered and is not there`);
    const text = JSON.stringify(answer.order);
    const first = firstOf.get(`${userId} ${key}`) ?? { id, request, text };
    firstOf.set(`${userId} ${key}`, first);
    if (first.id !== id) say(`orders ${first.id} and ${id}`);
    else if (first.text !== text) say(`order ${id} was answered in two ways`);
    if (first.request !== request) say(`${first.request} and ${request} got the same order`);
  }
  return found;
}

/** I10: a buyer who has the answer and sends the same once more gets it again, or is told to come back. */
function checkRepeats({ answers }: Judged): Violation[] {
  const nameOf = ({ userId, key, activityId, quantity }: ObservedAnswer): string =>
    `key ${key} of ${userId} for ${quantity} of ${activityId}`;
  const knownAtMs = new Map<string, number>();
  for (const answered of answers) {
    const name = nameOf(answered);
    if (answered.answer.kind !== 'refused' && !knownAtMs.has(name))
      knownAtMs.set(name, answered.answeredAtMs);
  }
  return answers.flatMap((answered) => {
    const { answer, askedAtMs } = answered;
    const name = nameOf(answered);
    const isRepeat = askedAtMs >= (knownAtMs.get(name) ?? Number.POSITIVE_INFINITY);
    if (answer.kind !== 'refused' || !isRepeat || retriableCodes.includes(answer.problem.code)) return [];
    return [{ invariant: 'I10', what: `${name}: a repeat was refused with ${answer.problem.code}` }];
  });
}

/** I11, and nothing that is owed is left: messages, outbox rows, effects. */
function checkLeftovers({ database: { tables }, broker, unsettled }: Judged): Violation[] {
  const found: Violation[] = [];
  for (const { id, state, body } of broker.messages) {
    if (state === 'waiting' || state === 'delivered') {
      found.push({ invariant: 'I11', what: `message ${id} of phase ${body.phase} is still ${state}` });
    }
  }
  for (const { id, sentAtMs } of tables.outbox.values()) {
    if (sentAtMs === null) found.push({ invariant: 'I11', what: `outbox row ${id} was never sent` });
  }
  for (const {
    effect: { id, kind },
  } of tables.effects.values()) {
    found.push({ invariant: 'I3', what: `effect ${id} (${kind}) was never applied` });
  }
  if (unsettled > 0) found.push({ invariant: 'I8', what: `${unsettled} requests were never answered` });
  return found;
}

function sum(rows: readonly { readonly quantity: number }[]): number {
  return rows.reduce((total, { quantity }) => total + quantity, 0);
}
