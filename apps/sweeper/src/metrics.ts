import { measureLateness } from '@lapse/order-flow';
import { Counter, Gauge } from '@lapse/runtime';
import { differenceKinds } from '@lapse/stock-audit';

/** What the sweep closes is late, and counts in the objective as what the closer closes. */
export const closeLateness = measureLateness();

/** Every order here is one that its message missed: a steady rise means that the broker loses or lags. */
export const ordersSwept = new Counter({
  name: 'lapse_sweeper_orders_closed_total',
  help: 'Overdue orders that the sweep closed because no message did.',
});

export const ordersParked = new Counter({
  name: 'lapse_sweeper_orders_parked_total',
  help: 'Orders that the sweep could not close or remind and parked with a reason.',
});

/** Every order here is one whose reminder came from the sweep: a rise means that messages are lost or late. */
export const remindersSwept = new Counter({
  name: 'lapse_sweeper_reminders_total',
  help: 'Orders reminded by the sweep because no message did.',
});

export const outboxResent = new Counter({
  name: 'lapse_sweeper_outbox_total',
  help: 'Outbox rows left unsent by their process, by what became of them here.',
  labelNames: ['outcome'] as const,
});

export const effectsReplayed = new Counter({
  name: 'lapse_sweeper_effects_total',
  help: 'Stock effects left unapplied by their process, by what became of them here.',
  labelNames: ['outcome'] as const,
});

export const stockLoads = new Counter({
  name: 'lapse_sweeper_stock_loads_total',
  help: 'Activities whose stock in Redis was rebuilt from MySQL.',
});

export const orphansReleased = new Counter({
  name: 'lapse_sweeper_orphan_holds_total',
  help: 'Holds in Redis whose order was never written, fenced in MySQL and released.',
});

export const keysExpired = new Counter({
  name: 'lapse_sweeper_keys_expired_total',
  help: 'Idempotency keys older than 24 hours that may be used again.',
});

export const ordersArchived = new Counter({
  name: 'lapse_sweeper_orders_archived_total',
  help: 'Orders that ended longer ago than the policy keeps them, and went to the archive.',
});

export const ordersLeft = new Gauge({
  name: 'lapse_sweeper_orders_left',
  help: 'Orders that the last whole walk of retention met and left: something of theirs is open or young.',
  labelNames: ['kind'] as const,
});

export const activitiesArchived = new Counter({
  name: 'lapse_sweeper_activities_archived_total',
  help: 'Activities whose sale was over for longer than the policy keeps them, and that were archived.',
});

export const rowsForgotten = new Counter({
  name: 'lapse_sweeper_rows_forgotten_total',
  help: 'Rows deleted because they had done their work: messages, settled rows, findings, archived orders, payments of nobody.',
});

/** Every one is a fault somewhere: Redis lost writes, or somebody else wrote to it. */
export const auditDifferences = new Counter({
  name: 'lapse_sweeper_audit_differences_total',
  help: 'Differences between MySQL and Redis that two looks of the audit found just the same.',
  labelNames: ['kind'] as const,
});
// There from the start: a rise from nothing to one is a rise only where the nothing was seen.
for (const kind of differenceKinds) auditDifferences.inc({ kind }, 0);

export const auditEndedAt = new Gauge({
  name: 'lapse_sweeper_audit_end_timestamp_seconds',
  help: 'When the last audit without a failure ended, in seconds since 1970; 0: none yet.',
});
