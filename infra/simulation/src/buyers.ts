import type { CreateAnswer } from '@lapse/producer/decisions';
import { retriableCodes } from './observed.ts';
import { createPayers } from './payers.ts';
import type { Processes } from './processes.ts';
import { createRequester } from './request-producer.ts';
import type { World } from './world.ts';

/** What a buyer does with an order. Outside: money that the provider took without an attempt of ours. */
const endings = [
  'abandon',
  'begin-and-leave',
  'cancel',
  'cancel-and-pay',
  'pay',
  'pay',
  'pay-outside',
  'pay-twice',
] as const;
/** And when: around the deadline are the races. */
const times = ['soon', 'deadline', 'late'] as const;

/** How long a client waits for an answer before it sends the same again. */
const clientPatienceMs = 4_000;
const clicksMax = 6;

interface Intent {
  readonly userId: string;
  readonly activityId: number;
  readonly quantity: number;
  readonly key: string;
  readonly ending: (typeof endings)[number];
  readonly pays: (typeof times)[number];
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
      pays: random.pick(times),
    };
    scheduler.after(random.int(0, spreadMs), null, () => buyers.want(intent));
  }
}

function createBuyers(world: World, processes: Processes) {
  const { random, scheduler } = world;
  const request = createRequester(world, processes);
  const payers = createPayers(world, processes);

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
    const askedAtMs = scheduler.now();
    request<CreateAnswer>(
      `${userId} wants ${quantity} of ${activityId}`,
      clientPatienceMs,
      (p) => p.create(body),
      (answer) => {
        const times = { askedAtMs, answeredAtMs: scheduler.now() };
        if (answer) world.answers.push({ userId, key, activityId, quantity, answer, ...times });
        if (answer && answer.kind !== 'refused') {
          world.unsettled -= 1;
          if (goesOn) end(intent, answer.order);
          return;
        }
        const isFinal = answer !== undefined && !retriableCodes.includes(answer.problem.code);
        if (isFinal || attempt >= clicksMax) {
          world.unsettled -= 1;
          return;
        }
        scheduler.after(random.int(200, 3_000), null, () => create(intent, attempt + 1, goesOn));
      },
    );
  }

  function end(
    { userId, ending, pays }: Intent,
    order: { id: string; expiresAt: string; amountMinor: number },
  ): void {
    const nowMs = scheduler.now();
    const deadlineInMs = Date.parse(order.expiresAt) - nowMs;
    const early = random.int(0, Math.max(1, deadlineInMs));
    const atDeadline = Math.max(0, deadlineInMs + random.int(-40, 40));
    const late = Math.max(0, deadlineInMs) + random.int(0, 20_000);
    const when = { soon: early, deadline: atDeadline, late }[pays];
    if (ending === 'pay') payers.pay(order, userId, when);
    if (ending === 'pay-outside') payers.payOutside(order.id, order.amountMinor, when);
    if (ending === 'pay-twice') {
      payers.pay(order, userId, early);
      payers.payOutside(order.id, order.amountMinor, when);
    }
    if (ending === 'cancel') cancel(order.id, userId, when, 1);
    if (ending === 'cancel-and-pay') {
      cancel(order.id, userId, when, 1);
      payers.pay(order, userId, Math.max(0, when + random.int(-20, 20)));
    }
    if (ending === 'begin-and-leave') payers.begin(order.id, userId, early);
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
          // Being paid: asked again when the provider has given the payment up.
          const isOver =
            answer && !(answer.kind === 'refused' && answer.problem.code === 'PAYMENT_IN_PROGRESS');
          if (!isOver && attempt < clicksMax) cancel(orderId, userId, random.int(200, 2_000), attempt + 1);
        },
      );
    });
  }

  return { want };
}
