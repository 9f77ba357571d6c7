import type { CreateAnswer } from '@lapse/producer/decisions';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

/** What a buyer does with an order, and when: around its deadline, where the races are. */
const endings = [
  'abandon',
  'pay-soon',
  'pay-at-deadline',
  'pay-late',
  'pay-twice',
  'cancel',
  'cancel-and-pay',
] as const;

/** How long a client waits for an answer before it sends the same again. */
const clientPatienceMs = 4_000;
const clicksMax = 6;
const webhookPatienceMs = 4_000;
/** A provider goes on for days; far more than a run needs. */
const webhookTriesMax = 60;

interface Intent {
  readonly userId: string;
  readonly activityId: number;
  readonly quantity: number;
  readonly key: string;
  readonly ending: (typeof endings)[number];
}

/** Send buyers into the sale, spread over `spreadMs`. */
export function sendBuyers(world: World, processes: Processes, spreadMs: number): void {
  const { random, scheduler, database } = world;
  const activityIds = [...database.tables.activities.keys()];
  const users = Array.from({ length: random.int(2, 6) }, (_, index) => `user-${index + 1}`);
  const buyers = createBuyers(world, processes);
  for (let count = random.int(4, 14), key = 1; key <= count; key += 1) {
    const intent: Intent = {
      userId: random.pick(users),
      activityId: random.pick(activityIds),
      quantity: random.chance(0.75) ? 1 : 2,
      key: `key-${key}`,
      ending: random.pick(endings),
    };
    scheduler.after(random.int(0, spreadMs), null, () => buyers.want(intent));
  }
}

function createBuyers(world: World, processes: Processes) {
  const { random, scheduler, faults, trace } = world;

  /** A request to some producer; `done` hears its answer, or undefined when none came in time. */
  function request<T>(
    what: string,
    patienceMs: number,
    ask: (producer: NonNullable<ReturnType<Processes['anyProducer']>>['entry']) => Promise<T>,
    done: (answer: T | undefined) => void,
  ): void {
    const producer = processes.anyProducer();
    let settled = false;
    const settle = (answer: T | undefined): void => {
      if (settled) return;
      settled = true;
      done(answer);
    };
    scheduler.after(producer ? patienceMs : random.int(100, 500), null, () => settle(undefined));
    if (!producer) return;
    const reply = (answer: T | undefined): void => {
      if (faults.strikes('http-answer-lost')) return;
      scheduler.after(random.int(0, 5), null, () => {
        trace('  client', () => `${what}: ${JSON.stringify(answer) ?? 'failed'}`);
        settle(answer);
      });
    };
    scheduler.after(random.int(0, 5), producer.owner, () => {
      ask(producer.entry).then(reply, () => reply(undefined));
    });
  }

  function want(intent: Intent): void {
    // Fifty clicks with one key; sometimes the same key for something else.
    const clicks = random.chance(0.3) ? random.int(2, 4) : 1;
    for (let click = 0; click < clicks; click += 1) {
      world.unsettled += 1;
      const isMisuse = click > 0 && random.chance(0.2);
      const body = isMisuse ? { ...intent, quantity: 3 - intent.quantity } : intent;
      scheduler.after(random.int(0, 50), null, () => create(body, 1, click === 0));
    }
    // The buyer's device remembers, and asks once more when all is long over.
    if (random.chance(0.2)) {
      world.unsettled += 1;
      scheduler.after(random.int(20_000, 60_000), null, () => create(intent, clicksMax, true));
    }
  }

  function create(intent: Intent, attempt: number, goesOn: boolean): void {
    const { userId, activityId, quantity, key } = intent;
    const body = { activityId, userId, locale: 'en' as const, idempotencyKey: key, body: { quantity } };
    request<CreateAnswer>(
      `${userId} wants ${quantity} of ${activityId}`,
      clientPatienceMs,
      (p) => p.create(body),
      (answer) => {
        if (answer) world.answers.push({ userId, key, activityId, quantity, answer });
        if (answer && answer.kind !== 'refused') {
          world.unsettled -= 1;
          if (goesOn) end(intent, answer.order);
          return;
        }
        const isFinal = answer !== undefined && !retriable.includes(answer.problem.code);
        if (isFinal || attempt >= clicksMax) {
          world.unsettled -= 1;
          return;
        }
        scheduler.after(random.int(200, 3_000), null, () => create(intent, attempt + 1, goesOn));
      },
    );
  }

  function end(
    { userId, ending }: Intent,
    order: { id: string; expiresAt: string; amountMinor: number },
  ): void {
    const nowMs = scheduler.now();
    const deadlineInMs = Date.parse(order.expiresAt) - nowMs;
    const early = random.int(0, Math.max(1, deadlineInMs));
    const atDeadline = Math.max(0, deadlineInMs + random.int(-40, 40));
    const late = Math.max(0, deadlineInMs) + random.int(0, 20_000);
    if (ending === 'pay-soon' || ending === 'pay-twice') capture(order, early);
    if (ending === 'pay-at-deadline') capture(order, atDeadline);
    if (ending === 'pay-late') capture(order, late);
    if (ending === 'pay-twice') capture(order, random.chance(0.5) ? early : atDeadline);
    if (ending === 'cancel') cancel(order.id, userId, random.chance(0.5) ? early : atDeadline, 1);
    if (ending === 'cancel-and-pay') {
      cancel(order.id, userId, early, 1);
      capture(order, Math.max(0, early + random.int(-20, 20)));
    }
  }

  function cancel(orderId: string, userId: string, inMs: number, attempt: number): void {
    world.unsettled += 1;
    scheduler.after(inMs, null, () => {
      request(
        `${userId} cancels ${orderId}`,
        clientPatienceMs,
        (p) => p.cancel(orderId, userId),
        (answer) => {
          world.unsettled -= 1;
          if (!answer && attempt < clicksMax) cancel(orderId, userId, random.int(200, 2_000), attempt + 1);
        },
      );
    });
  }

  let payments = 0;

  /** The provider takes the money, and tells it until somebody has understood. */
  function capture(order: { id: string; amountMinor: number }, inMs: number): void {
    world.unsettled += 1;
    scheduler.after(inMs, null, () => {
      payments += 1;
      const paymentId = `payment-${payments}`;
      world.captures.push({ paymentId, orderId: order.id });
      const amountMinor = random.chance(0.05) ? order.amountMinor + 1 : order.amountMinor;
      const event = { paymentId, orderId: order.id, amountMinor };
      if (random.chance(0.1)) tell({ ...event, paymentId: `${paymentId}-failed` }, 'payment.failed', 'a', 1);
      const copies = faults.strikes('webhook-doubled') ? 3 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        tell(event, 'payment.captured', random.chance(0.5) ? 'a' : 'b', 1);
      }
      world.unsettled -= 1;
    });
  }

  function tell(
    event: { readonly paymentId: string; readonly orderId: string; readonly amountMinor: number },
    type: 'payment.captured' | 'payment.failed',
    edition: string,
    attempt: number,
  ): void {
    world.unsettled += 1;
    const lateMs = faults.strikes('webhook-late') ? random.int(1_000, 15_000) : 0;
    const inMs = lateMs + (attempt === 1 ? random.int(0, 30) : random.int(500, 3_000));
    scheduler.after(inMs, null, () => {
      const eventId = `event-${event.paymentId}-${edition}`;
      const body = {
        type,
        timestamp: new Date(scheduler.now()).toISOString(),
        data: { ...event, currency: 'CNY' },
      };
      request(
        `webhook ${eventId}`,
        webhookPatienceMs,
        (p) => p.pay(eventId, body),
        (answer) => {
          world.unsettled -= 1;
          if (!answer && attempt < webhookTriesMax) tell(event, type, edition, attempt + 1);
        },
      );
    });
  }

  return { want };
}

/** Refusals after which a client is told to send the same again. */
const retriable: readonly string[] = ['OVERLOADED', 'UNAVAILABLE', 'STOCK_NOT_READY'];
