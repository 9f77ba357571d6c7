import { defineGroup } from './setting.ts';
import { duration, durationOrForever, wholeNumber } from './values.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Alerts take figures that are older than two minutes for those of a process that is cut off. */
const reportEveryMaxMs = 60_000;

/**
 * The shortest time that what has ended is kept: above the 24 hours of an idempotency key, and the hour for which Redis
 * refuses a reserve that comes late. A pay window need not be added: retention counts from the deadline.
 */
const retainMinMs = 2 * dayMs;
const retainMaxMs = 36_500 * dayMs;
/** A payment that comes again is known by the rows that go with its order: providers send an event for 30 days at most. */
const retainArchiveMinMs = 35 * dayMs;
/** Who did what by hand, and why, is asked of a year. */
const retainActionsMinMs = 365 * dayMs;

export const workerGroup = defineGroup({
  heartbeatMs: {
    env: 'LAPSE_HEARTBEAT_EVERY',
    schema: duration(100, 60_000),
    default: '5s',
    example: '2s',
    help: 'How often a process says in MySQL that it is alive, and hears whether an operator wants it paused. After three missed ones it counts as dead.',
  },
});

export const relayGroup = defineGroup({
  gatherMs: {
    env: 'LAPSE_RELAY_GATHER',
    schema: duration(0, 10_000),
    default: '250ms',
    example: '100ms',
    help: 'How long outbox rows gather before they are sent together. A message costs the same however many orders it carries.',
  },
  dueWindowMs: {
    env: 'LAPSE_RELAY_DUE_WINDOW',
    schema: duration(1, 60_000),
    default: '1s',
    example: '500ms',
    help: 'Orders due within this time of each other travel in one message.',
  },
  closeLeadMs: {
    env: 'LAPSE_CLOSE_LEAD',
    schema: duration(0, 60_000),
    default: '1500ms',
    example: '2500ms',
    help: "How long before the deadline the closer gets the message. Keep it above the broker's timerPrecisionMs.",
  },
});

export const consumeGroup = defineGroup(
  {
    receiveLoops: {
      env: 'LAPSE_RECEIVE_LOOPS',
      schema: wholeNumber(1, 64),
      default: '4',
      example: '8',
      help: 'Receives that one worker keeps open at the broker.',
    },
    awaitMs: {
      env: 'LAPSE_RECEIVE_AWAIT',
      schema: duration(5_000, 20_000),
      default: '5s',
      example: '8s',
      help: 'How long a receive waits for messages (the proxy takes no less than 5 s); a worker needs up to this long to stop, so keep it 2 s below LAPSE_SHUTDOWN_STEP_TIMEOUT.',
    },
    invisibleMs: {
      env: 'LAPSE_INVISIBLE',
      schema: duration(10_000, 12 * hourMs),
      default: '30s',
      example: '1m',
      help: "After this time the broker gives a dead worker's messages to another.",
    },
    ordersHeldMax: {
      env: 'LAPSE_ORDERS_HELD_MAX',
      schema: wholeNumber(1_024, 10_000_000),
      default: '100000',
      example: '20000',
      help: 'Most orders that one worker holds in memory; then it stops receiving, and the broker keeps the rest.',
    },
  },
  ({ awaitMs, invisibleMs }) =>
    invisibleMs > awaitMs
      ? []
      : [{ env: 'LAPSE_INVISIBLE', fault: 'must be longer than LAPSE_RECEIVE_AWAIT' }],
);

export const reminderGroup = defineGroup({
  batchMax: {
    env: 'LAPSE_REMIND_BATCH_MAX',
    schema: wholeNumber(1, 2_000),
    default: '1000',
    example: '500',
    help: 'Most orders reminded in one transaction.',
  },
  gatherMs: {
    env: 'LAPSE_REMIND_GATHER',
    schema: duration(0, 5_000),
    default: '100ms',
    example: '0ms',
    help: 'How much later than its time a reminder may go out, so that more go together. Orders close at their own millisecond.',
  },
});

export const closerGroup = defineGroup({
  batchMax: {
    env: 'LAPSE_CLOSE_BATCH_MAX',
    schema: wholeNumber(1, 2_000),
    default: '2000',
    example: '500',
    help: 'Most orders closed in one transaction.',
  },
});

export const sweeperGroup = defineGroup(
  {
    everyMs: {
      env: 'LAPSE_SWEEP_EVERY',
      schema: duration(100, hourMs),
      default: '10s',
      example: '30s',
      help: 'Time between two sweeps for overdue orders.',
    },
    graceMs: {
      env: 'LAPSE_SWEEP_GRACE',
      schema: duration(0, dayMs),
      default: '15s',
      example: '1m',
      help: 'How long past its deadline an order is left to the closer before the sweep closes it.',
    },
    batchMax: {
      env: 'LAPSE_SWEEP_BATCH_MAX',
      schema: wholeNumber(1, 2_000),
      default: '500',
      example: '1000',
      help: 'Most orders that a sweep closes in one transaction; it goes on until none is left or its time is up.',
    },
    budgetMs: {
      env: 'LAPSE_SWEEP_BUDGET',
      schema: duration(50, hourMs),
      default: '8s',
      example: '20s',
      help: 'Longest time of one sweep; the next one goes on where it stopped.',
    },
    remindGraceMs: {
      env: 'LAPSE_REMIND_GRACE',
      schema: duration(0, dayMs),
      default: '30s',
      example: '1m',
      help: 'How long past its reminder an order is left to the reminder before the sweep reminds it.',
    },
    repairEveryMs: {
      env: 'LAPSE_REPAIR_EVERY',
      schema: duration(50, hourMs),
      default: '1s',
      example: '5s',
      help: 'Time between two looks for unsent messages and unapplied stock effects.',
    },
    auditEveryMs: {
      env: 'LAPSE_AUDIT_EVERY',
      schema: duration(1_000, hourMs),
      default: '30s',
      example: '1m',
      help: 'Time between two audits of the stock in Redis against MySQL; what has drifted is healed and recorded.',
    },
    deadLettersEveryMs: {
      env: 'LAPSE_DEAD_LETTERS_EVERY',
      schema: duration(1_000, hourMs),
      default: '30s',
      example: '5m',
      help: 'Time between two looks at the dead letters of the broker; each is a poll of 5 s.',
    },
    outboxAfterMs: {
      env: 'LAPSE_OUTBOX_AFTER',
      schema: duration(0, hourMs),
      default: '2s',
      example: '5s',
      help: 'A timeout message unsent for this long is sent by the sweeper.',
    },
    effectsAfterMs: {
      env: 'LAPSE_EFFECTS_AFTER',
      schema: duration(0, hourMs),
      default: '2s',
      example: '5s',
      help: 'A stock effect not applied to Redis for this long is applied by the sweeper.',
    },
    reportEveryMs: {
      env: 'LAPSE_SWEEPER_REPORT_EVERY',
      schema: duration(100, reportEveryMaxMs),
      default: '10s',
      example: '30s',
      help: 'Time between two counts of what waits in MySQL, for the metrics.',
    },
    orphansEveryMs: {
      env: 'LAPSE_ORPHANS_EVERY',
      schema: duration(100, hourMs),
      default: '30s',
      example: '1m',
      help: 'Time between two looks for holds in Redis whose order was never written.',
    },
    orphansAfterMs: {
      env: 'LAPSE_ORPHANS_AFTER',
      schema: duration(1_000, hourMs),
      default: '1m',
      example: '2m',
      help: 'How old a hold must be before it may count as an orphan; above the longest write of an order.',
    },
    retainOrdersMs: {
      env: 'LAPSE_RETAIN_ORDERS',
      schema: durationOrForever(retainMinMs, retainMaxMs),
      default: 'forever',
      example: '90d',
      help: 'How long after its end and its deadline an order that closed, was cancelled or was never sold keeps its rows; then it goes to the archive. Sent messages, settled rows and healed findings as old are deleted. Paid orders go with their activity: `LAPSE_RETAIN_SALES`.',
    },
    retainArchiveMs: {
      env: 'LAPSE_RETAIN_ARCHIVE',
      schema: durationOrForever(retainArchiveMinMs, retainMaxMs),
      default: 'forever',
      example: '730d',
      help: 'How long an order stays in the archive, at least until messages as old are gone; then nothing is known of it, nor of its payments once their money moved as long ago. With `LAPSE_RETAIN_ORDERS` or `LAPSE_RETAIN_SALES` alone.',
    },
    retainSalesMs: {
      env: 'LAPSE_RETAIN_SALES',
      schema: durationOrForever(retainMinMs, retainMaxMs),
      default: 'forever',
      example: '180d',
      help: 'How long after its sale is over (begun, and ended, paused by an operator, or all sold, and nothing pending or paid since) an activity is archived: nothing is sold in it any more, Redis forgets it, and its paid orders go to the archive. A sale without an end that has free places is over once an operator pauses it. Without `LAPSE_RETAIN_ORDERS`, messages and settled rows as old are deleted.',
    },
    retainActionsMs: {
      env: 'LAPSE_RETAIN_ACTIONS',
      schema: durationOrForever(retainActionsMinMs, retainMaxMs),
      default: 'forever',
      example: '3650d',
      help: 'How long it is kept who changed what by hand, and why. That a payment was dismissed is kept for as long as the payment, which counts its age from it.',
    },
    retainEveryMs: {
      env: 'LAPSE_RETAIN_EVERY',
      schema: duration(100, dayMs),
      default: '1m',
      example: '1h',
      help: 'Time between two runs of retention, each of at most 40,000 orders.',
    },
  },
  ({ retainOrdersMs, retainSalesMs, retainArchiveMs }) =>
    // Messages would be kept for ever, and name orders that the archive has let go of.
    retainArchiveMs !== null && retainOrdersMs === null && retainSalesMs === null
      ? [
          {
            env: 'LAPSE_RETAIN_ARCHIVE',
            fault:
              'needs LAPSE_RETAIN_ORDERS or LAPSE_RETAIN_SALES: without either of them messages are kept for ever, and may name orders that are nowhere any more',
          },
        ]
      : [],
);

export const settlerGroup = defineGroup({
  everyMs: {
    env: 'LAPSE_SETTLE_EVERY',
    schema: duration(50, 60_000),
    default: '500ms',
    example: '250ms',
    help: 'Time between two looks for payment attempts that are due; refunds and kept payments are looked for at every other.',
  },
  atOnceMax: {
    env: 'LAPSE_SETTLE_AT_ONCE',
    schema: wholeNumber(1, 256),
    default: '16',
    example: '32',
    help: 'Most calls of one settler to the payment provider at once, each for attempts and for refunds.',
  },
  keptMaxMs: {
    env: 'LAPSE_PAYMENT_KEPT_MAX',
    schema: duration(1_000, dayMs),
    default: '10m',
    example: '1h',
    help: 'A payment whose order is not there after this time goes back.',
  },
  refundAlertMs: {
    env: 'LAPSE_REFUND_ALERT_AFTER',
    schema: duration(1_000, 30 * dayMs),
    default: '1h',
    example: '15m',
    help: 'A refund that waits for longer is reported as an error, every minute.',
  },
  reportEveryMs: {
    env: 'LAPSE_SETTLER_REPORT_EVERY',
    schema: duration(100, reportEveryMaxMs),
    default: '5s',
    example: '30s',
    help: 'Time between two counts of what waits, for the metrics.',
  },
});
