import type { ModelBroker } from './model-broker.ts';
import type { ModelDatabase } from './model-database.ts';
import type { ModelRedis } from './model-redis.ts';
import { isActive, type OrderRow } from './model-rows.ts';
import type { Capture, ObservedAnswer } from './observed.ts';

/** What the oracle looks at: the stores as they are, and what was seen from outside. */
interface Judged {
  readonly database: Pick<ModelDatabase, 'tables'>;
  readonly redis: Pick<ModelRedis, 'activities'>;
  readonly broker: Pick<ModelBroker, 'messages'>;
  readonly answers: readonly ObservedAnswer[];
  readonly captures: readonly Capture[];
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
}: Pick<Judged, 'database' | 'redis'>): Violation[] {
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
    ...checkLeftovers(world),
  ];
}

/** I4, I5, I6, I7: each order's ledger. */
function checkOrders({ database: { tables } }: Judged): Violation[] {
  const found: Violation[] = [];
  for (const order of tables.orders.values()) {
    const ledger = tables.transitions.filter(({ orderId }) => orderId === order.id);
    const moves = ledger.filter(({ from }) => from !== null);
    const credit = ledger.reduce((total, row) => total + row.credit, 0);
    const isClosed = order.status === 'TIMEOUT_CLOSED' || order.status === 'CANCELLED';
    const say = (invariant: string, what: string) =>
      found.push({ invariant, what: `order ${order.id} ${what}` });
    if (moves.length > 1 || moves.some(({ from }) => from !== 'PENDING')) {
      say('I4', `moved ${moves.map(({ from, to }) => `${from}->${to}`).join(', ')}`);
    }
    if (credit !== (isClosed ? order.quantity : 0)) {
      say(
        order.status === 'PAID' ? 'I6' : 'I5',
        `is ${order.status} with ${credit} given back of ${order.quantity}`,
      );
    }
    for (const { to, atMs } of moves) {
      const earlyMs = order.expiresAt.getTime() - atMs;
      if (to === 'TIMEOUT_CLOSED' && earlyMs > 0) say('I7', `closed ${earlyMs} ms early`);
    }
    if (order.status === 'PENDING') say('I8', 'is still pending');
  }
  return found;
}

/** I3: Redis says what MySQL says. */
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

/** I9: one notice per order and stage, and no reminder of what is not pending. */
function checkNotices({ database: { tables } }: Judged): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  for (const { orderId, stage, status } of tables.notices) {
    const name = `${stage} notice of order ${orderId}`;
    if (seen.has(name)) found.push({ invariant: 'I9', what: `second ${name}` });
    seen.add(name);
    if (stage === 'REMINDER' && status !== 'PENDING') {
      found.push({ invariant: 'I9', what: `${name}, which is ${status}` });
    }
  }
  return found;
}

/** I6: all money is accounted for, each capture once, and an order is paid by one of them. */
function checkMoney({ database: { tables }, captures }: Judged): Violation[] {
  const found: Violation[] = [];
  for (const { paymentId, orderId } of captures) {
    const rows = tables.payments.filter(
      (row) => row.paymentId === paymentId && row.type === 'payment.captured',
    );
    if (rows.length !== 1) {
      found.push({
        invariant: 'I6',
        what: `capture ${paymentId} of order ${orderId} has ${rows.length} outcomes`,
      });
    }
  }
  for (const { id, status } of tables.orders.values()) {
    const paid = tables.payments.filter((row) => row.orderId === id && row.state === 'CAPTURED').length;
    if (paid !== (status === 'PAID' ? 1 : 0)) {
      found.push({ invariant: 'I6', what: `order ${id} is ${status} with ${paid} captured payments` });
    }
  }
  return found;
}

/** I10: what buyers were told is true, and one key is one order. */
function checkAnswers({ database: { tables }, answers }: Judged): Violation[] {
  const found: Violation[] = [];
  const firstOf = new Map<string, { readonly id: string; readonly request: string }>();
  for (const { userId, key, activityId, quantity, answer } of answers) {
    if (answer.kind === 'refused') continue;
    const { id } = answer.order;
    const request = `${activityId} x${quantity}`;
    const say = (what: string) => found.push({ invariant: 'I10', what: `key ${key} of ${userId}: ${what}` });
    const row: OrderRow | undefined = tables.orders.get(id);
    if (row?.userId !== userId || row.quantity !== quantity) say(`order ${id} was answered and is not there`);
    const first = firstOf.get(`${userId} ${key}`) ?? { id, request };
    firstOf.set(`${userId} ${key}`, first);
    if (first.id !== id) say(`orders ${first.id} and ${id}`);
    if (first.request !== request) say(`${first.request} and ${request} got the same order`);
  }
  return found;
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
