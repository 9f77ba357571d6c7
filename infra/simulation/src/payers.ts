import type { ProviderEvent } from '@lapse/payments';
import type { Processes } from './processes.ts';
import { createRequester } from './request-producer.ts';
import type { World } from './world.ts';

const patienceMs = 4_000;
const beginsMax = 4;
/** A provider goes on for days; far more than a run needs. */
const webhookTriesMax = 60;

type Told = Extract<ProviderEvent, { kind: 'captured' | 'failed' }>;

export interface Payers {
  /** Begin a payment, and leave it at that. */
  begin(orderId: string, userId: string, inMs: number): void;
  /** Begin a payment, and pay it at the provider at that time. */
  pay(order: { readonly id: string; readonly expiresAt: string }, userId: string, inMs: number): void;
  /** Money that the provider takes without an attempt of ours; one in twenty times the wrong amount. */
  payOutside(orderId: string, amountMinor: number, inMs: number): void;
}

/** Buyers at the payment provider, and the provider's webhooks, which go on until somebody has understood. */
export function createPayers(world: World, processes: Processes): Payers {
  const { random, scheduler, faults, provider } = world;
  const request = createRequester(world, processes);

  function after(inMs: number, run: () => void): void {
    world.unsettled += 1;
    scheduler.after(inMs, null, () => {
      run();
      world.unsettled -= 1;
    });
  }

  function begin(
    orderId: string,
    userId: string,
    inMs: number,
    attempt: number,
    begun: (id: string) => void,
  ): void {
    after(inMs, () => {
      world.unsettled += 1;
      request(
        `${userId} begins to pay ${orderId}`,
        patienceMs,
        (producer) => producer.begin(orderId, userId),
        (answer) => {
          world.unsettled -= 1;
          if (answer?.kind === 'begun') begun(answer.payment.attemptId);
          const isOver =
            answer?.kind === 'begun' || (answer && answer.problem.code !== 'PAYMENT_UNAVAILABLE');
          if (!isOver && attempt < beginsMax)
            begin(orderId, userId, random.int(200, 2_000), attempt + 1, begun);
        },
      );
    });
  }

  function tellCapture(
    orderId: string,
    providerRef: string,
    capture: { paymentId: string; amountMinor: number },
  ): void {
    const event = {
      orderId,
      providerRef,
      ...capture,
      currency: 'CNY',
      occurredAt: new Date(scheduler.now()),
    };
    if (random.chance(0.1)) {
      const { paymentId } = capture;
      tell({ ...event, kind: 'failed', eventId: `event-${paymentId}-x`, paymentId: `${paymentId}-x` }, 1);
    }
    const copies = faults.strikes('webhook-doubled') ? 3 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const eventId = `event-${capture.paymentId}-${random.chance(0.5) ? 'a' : 'b'}`;
      tell({ ...event, kind: 'captured', eventId }, 1);
    }
  }

  function tell(event: Told, attempt: number): void {
    const lateMs = faults.strikes('webhook-late') ? random.int(1_000, 15_000) : 0;
    const inMs = lateMs + (attempt === 1 ? random.int(0, 30) : random.int(500, 3_000));
    after(inMs, () => {
      world.unsettled += 1;
      request(
        `webhook ${event.eventId}`,
        patienceMs,
        (producer) => producer.pay(event),
        (answer) => {
          world.unsettled -= 1;
          if (!answer && attempt < webhookTriesMax) tell(event, attempt + 1);
        },
      );
    });
  }

  return {
    begin: (orderId, userId, inMs) => begin(orderId, userId, inMs, 1, () => undefined),
    pay: ({ id, expiresAt }, userId, inMs) => {
      const payAtMs = scheduler.now() + inMs;
      // A payment can only be begun before the deadline; the provider's page then stays open.
      const beginInMs = random.int(
        0,
        Math.max(0, Math.min(inMs, Date.parse(expiresAt) - scheduler.now() - 50)),
      );
      begin(id, userId, beginInMs, 1, (attemptId) => {
        after(Math.max(0, payAtMs - scheduler.now()), () => {
          const capture = provider.pay(attemptId);
          world.trace(
            '  provider',
            () => `${attemptId} of ${id}: ${capture ? capture.paymentId : 'is over'}`,
          );
          if (capture) tellCapture(id, `ref-${attemptId}`, capture);
        });
      });
    },
    payOutside: (orderId, amountMinor, inMs) => {
      after(inMs, () => {
        const capture = provider.take(orderId, random.chance(0.05) ? amountMinor + 1 : amountMinor);
        world.trace('  provider', () => `takes ${capture.paymentId} for ${orderId}`);
        tellCapture(orderId, `ref-${capture.paymentId}`, capture);
      });
    },
  };
}
