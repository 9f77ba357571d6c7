import { closeOrders, openReleaseLane } from '@lapse/closer/decisions';
import type { PaymentOutcome } from '@lapse/contracts';
import { openRelay, type SendSettings, type TimeoutSender } from '@lapse/messaging';
import { type CancelAnswer, changeCapacity, extendOrder, type OperatorAnswer } from '@lapse/operations';
import { rearmOrders } from '@lapse/order-flow';
import type { Extension, OperatorRequest } from '@lapse/order-repository';
import type { ProviderEvent } from '@lapse/payments';
import {
  type BeginPaymentAnswer,
  beginPayment,
  type CreateAnswer,
  type CreateRequest,
  cancelOrder,
  createOrder,
  openCreatePorts,
  takePayment,
} from '@lapse/producer/decisions';
import { deliverNotices, remindBuyers } from '@lapse/reminder/decisions';
import { type Logger, repeat } from '@lapse/runtime';
import { applyWaitingPayments, openCloseLane, payRefunds, settleAttempts } from '@lapse/settler/decisions';
import {
  applyLeftEffects,
  closeOverdue,
  loadStock,
  releaseOrphans,
  resendOutbox,
  sweepReminders,
} from '@lapse/sweeper/decisions';
import { openModelOrders, openModelStock, openNotifierPort, openProviderPort } from './model-ports.ts';
import type { Incarnation } from './scheduler.ts';
import { startTimeoutWorker } from './timeout-worker.ts';
import type { World } from './world.ts';

export type ProcessKind = 'producer' | 'reminder' | 'closer' | 'sweeper' | 'settler';

/** What a producer can be asked. */
export interface Producer {
  create(request: CreateRequest): Promise<CreateAnswer>;
  cancel(orderId: string, userId: string): Promise<CancelAnswer>;
  begin(orderId: string, userId: string): Promise<BeginPaymentAnswer>;
  pay(event: ProviderEvent): Promise<PaymentOutcome>;
  changeCapacity(activityId: number, capacity: number, request: OperatorRequest): Promise<OperatorAnswer>;
  extend(orderId: string, extension: Extension, request: OperatorRequest): Promise<OperatorAnswer>;
}

/** The defaults of production, but smaller: a run is three minutes long, and every queue is to be full at times. */
const settings = {
  relay: { gatherMs: 250, closeLeadMs: 1_500, dueWindowMs: 1_000 },
  create: { batchMax: 4, queueMax: 6 },
  workerBatchMax: 4,
  sweep: {
    graceMs: 5_000,
    remindGraceMs: 3_000,
    batchMax: 3,
    budgetMs: 4_000,
    effectsAfterMs: 2_000,
    outboxAfterMs: 2_000,
  },
  sweepEveryMs: 5_000,
  repairEveryMs: 4_000,
  settler: { everyMs: 4_000, atOnceMax: 2, timeoutMs: 1_000, keptMaxMs: 25_000 },
  orphans: { orphansAfterMs: 15_000, markersKeptMs: 120_000 },
  orphansEveryMs: 10_000,
  notify: { batchMax: 4, attemptsMax: 10, everyMs: 4_000 },
} as const;

/** Build a process out of its real decisions, as its main.ts does, on modelled stores. */
export function startProcess(world: World, kind: ProcessKind, owner: Incarnation): Producer | undefined {
  const orders = openModelOrders(world, owner);
  const stock = openModelStock(world, owner);
  const log = traceLog(world, owner);
  const sender = openModelSender(world, owner);
  const relayOf = (relay: SendSettings & { gatherMs: number }) =>
    openRelay({ ...relay, sender, markSent: orders.markOutboxSent, log });

  switch (kind) {
    case 'producer': {
      const relay = relayOf(settings.relay);
      const ports = openCreatePorts({ orders, stock, relay, limits: settings.create, log });
      const effects = { orders, stock, log };
      const payments = { provider: openProviderPort(world, owner) };
      return {
        create: (request) => createOrder(ports, request),
        cancel: (orderId, userId) => cancelOrder(effects, orderId, userId),
        begin: (orderId, userId) => beginPayment({ orders, payments, log }, orderId, userId),
        pay: (event) => takePayment({ ...effects, payments }, event),
        changeCapacity: (id, capacity, request) =>
          changeCapacity({ ...effects, activities: ports.activities }, id, capacity, request),
        extend: (id, extension, request) => extendOrder({ orders, relay }, id, extension, request),
      };
    }
    case 'reminder': {
      const relay = relayOf(settings.relay);
      const { notify } = settings;
      const deliver = deliverNotices({
        orders,
        notifier: openNotifierPort(world, owner),
        config: notify,
        log,
      });
      const task = world.guards.noticeDelivery ? deliver : async () => undefined;
      const delivery = repeat({ name: 'deliver-notices', everyMs: notify.everyMs, task, log });
      startTimeoutWorker(world, owner, {
        phase: 1,
        batchMax: settings.workerBatchMax,
        handle: remindBuyers({ orders, relay, noticesWait: delivery.wake, log }),
        rearm: rearmOrders({ phase: 1, orders, relay, log }),
        now: orders.now,
        log,
      });
      return undefined;
    }
    case 'closer': {
      const relay = relayOf(settings.relay);
      const lane = openReleaseLane({ stock, orders, log });
      startTimeoutWorker(world, owner, {
        phase: 2,
        batchMax: settings.workerBatchMax,
        handle: closeOrders({ orders, releaseStock: lane.release, log }),
        rearm: rearmOrders({ phase: 2, orders, relay, log }),
        now: orders.now,
        log,
      });
      return undefined;
    }
    case 'settler':
      startSettler(world, owner, { orders, stock, log });
      return undefined;
    case 'sweeper':
      startSweeper(world, owner, { orders, stock, sender, log });
      return undefined;
  }
}

function startSweeper(
  { guards, random, scheduler }: World,
  owner: Incarnation,
  {
    orders,
    stock,
    sender,
    log,
  }: {
    readonly orders: ReturnType<typeof openModelOrders>;
    readonly stock: ReturnType<typeof openModelStock>;
    readonly sender: Pick<TimeoutSender, 'send' | 'isConnected'>;
    readonly log: Logger;
  },
): void {
  const parts = { orders, stock, log, config: { ...settings.sweep, ...settings.relay } };
  const start = (
    isOn: boolean,
    name: string,
    everyMs: number,
    task: (signal: AbortSignal) => Promise<unknown>,
  ): void => {
    // Two sweepers must not run in step for ever.
    const begin = () =>
      void repeat({ name, everyMs, task: async (signal) => void (await task(signal)), log });
    if (isOn) scheduler.after(random.int(0, everyMs), owner, begin);
  };
  start(guards.sweep, 'close-overdue', settings.sweepEveryMs, closeOverdue(parts));
  start(guards.reminderSweep, 'sweep-reminders', settings.sweepEveryMs, sweepReminders(parts));
  start(
    guards.outboxResend,
    'resend-outbox',
    settings.repairEveryMs,
    resendOutbox({ ...parts, takeSender: async () => sender }),
  );
  start(guards.effectReplay, 'apply-left-effects', settings.repairEveryMs, applyLeftEffects(parts));
  start(guards.stockLoad, 'load-stock', settings.repairEveryMs, loadStock(parts));
  start(
    guards.orphanSearch,
    'release-orphans',
    settings.orphansEveryMs,
    releaseOrphans({ ...parts, config: settings.orphans }),
  );
}

function startSettler(
  world: World,
  owner: Incarnation,
  stores: {
    readonly orders: ReturnType<typeof openModelOrders>;
    readonly stock: ReturnType<typeof openModelStock>;
    readonly log: Logger;
  },
): void {
  const { guards, random, scheduler } = world;
  const { log } = stores;
  const provider = openProviderPort(world, owner);
  const { closeOrder } = openCloseLane(stores);
  const parts = { ...stores, provider, config: settings.settler };
  const start = (isOn: boolean, name: string, task: (signal: AbortSignal) => Promise<void>): void => {
    const { everyMs } = settings.settler;
    if (isOn) scheduler.after(random.int(0, everyMs), owner, () => void repeat({ name, everyMs, task, log }));
  };
  start(guards.keptPayments, 'apply-waiting-payments', applyWaitingPayments(parts));
  start(guards.refundsPaid, 'pay-refunds', payRefunds(parts));
  start(guards.attemptsSettled, 'settle-attempts', settleAttempts({ ...parts, closeOrder }));
}

/** Sends through the modelled broker: a send may fail, or be done without an answer. */
function openModelSender(
  { callStore, broker }: World,
  owner: Incarnation,
): Pick<TimeoutSender, 'send' | 'isConnected'> {
  const away = (): Error => new Error('RocketMQ did not take the message: the simulation says so');
  return {
    isConnected: () => true,
    send: async (message, deliverAtMs) => {
      const messageId = await callStore(
        owner,
        `send phase ${message.phase} for ${message.orders.map(({ orderId }) => orderId)}`,
        {
          slow: 'broker-refuses-send',
          refused: ['broker-refuses-send', away],
          answerLost: ['broker-answer-lost', away],
        },
        () => broker.send(message, deliverAtMs),
      );
      return { messageId, deliverAt: deliverAtMs };
    },
  };
}

/** What a process logs goes into the history, where somebody reads it. */
function traceLog({ trace }: World, owner: Incarnation): Logger {
  const write = (level: string) => (fields: object | string, message?: string) =>
    trace(owner.name, () => `${level}: ${message ?? String(fields)}`);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  // The decisions use these four levels of pino, and nothing else of it.
  return log as unknown as Logger;
}
