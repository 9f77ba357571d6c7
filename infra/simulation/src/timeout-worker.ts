import type { Phase } from '@lapse/contracts';
import {
  createDueQueue,
  type DueOrder,
  type HandleDueOptions,
  type HeldMessage,
  handleDue,
  takeOrders,
} from '@lapse/messaging/decisions';
import type { Logger } from '@lapse/runtime';
import { type Delivery, invisibleMs } from './model-broker.ts';
import type { Incarnation } from './scheduler.ts';
import type { World } from './world.ts';

/** As in the real consumer: so that work and ack still fit in when an order is due last of all. */
const holdMarginMs = 2_000;
const ackDelayMsMax = 10;

export interface TimeoutWorkerOptions {
  readonly phase: Phase;
  readonly batchMax: number;
  readonly now: () => number;
  readonly handle: HandleDueOptions<Delivery>['handle'];
  readonly rearm: (orders: readonly DueOrder[]) => Promise<void>;
  readonly log: Logger;
}

/** A worker as packages/messaging runs it, with the modelled broker in the place of the RocketMQ client. */
export function startTimeoutWorker(world: World, owner: Incarnation, options: TimeoutWorkerOptions): void {
  const { scheduler, broker, faults, random, trace } = world;
  const queue = createDueQueue<Delivery>();
  const due = handleDue({
    ...options,
    queue,
    onDone: ({ view }: HeldMessage<Delivery>) => {
      if (faults.strikes('broker-ack-lost')) return;
      scheduler.after(random.int(0, ackDelayMsMax), null, () => broker.ack(view));
    },
  });
  broker.subscribe({
    owner,
    phase: options.phase,
    onMessage: (delivery) => {
      const { id, body } = delivery.message;
      trace(
        owner.name,
        () => `message ${id}, delivery ${delivery.attempt}: ${body.orders.map((o) => o.orderId)}`,
      );
      const message: HeldMessage<Delivery> = {
        view: delivery,
        holdUntilMs: performance.now() + invisibleMs - holdMarginMs,
        isKept: false,
        remaining: 0,
      };
      takeOrders({ queue, message, orders: body.orders, nowMs: options.now(), gatherMs: 0 });
      due.wake();
    },
  });
}
