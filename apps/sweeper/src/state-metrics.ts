import { Gauge } from '@lapse/runtime';

/**
 * What MySQL holds, as a whole: every sweeper tells the same, so rules take the greatest, never the sum. One that is cut
 * off tells for ever what it read last: rules ask only those that read it lately, by `stateReadAt`.
 */

export const ordersByState = new Gauge({
  name: 'lapse_orders',
  help: 'Orders there are, by state. Counted seldom: see lapse_orders_counted_timestamp_seconds.',
  labelNames: ['state'] as const,
});
export const ordersCountedAt = new Gauge({
  name: 'lapse_orders_counted_timestamp_seconds',
  help: 'When lapse_orders was counted, in seconds since 1970.',
});
export const pendingOrders = new Gauge({
  name: 'lapse_orders_pending',
  help: 'Orders that are neither paid, closed nor cancelled.',
});
export const ordersDue = new Gauge({
  name: 'lapse_orders_due',
  help: 'Pending orders whose deadline comes within this many seconds.',
  labelNames: ['within'] as const,
});
export const ordersOverdue = new Gauge({
  name: 'lapse_orders_overdue',
  help: 'Pending orders past their deadline, those that are being paid or are parked included.',
});
export const oldestOverdueSeconds = new Gauge({
  name: 'lapse_orders_oldest_overdue_seconds',
  help: 'How long past its deadline the oldest order is that is neither being paid nor parked.',
});
export const outboxRows = new Gauge({
  name: 'lapse_outbox_rows',
  help: 'Outbox rows whose message is not sent.',
});
export const outboxOldestSeconds = new Gauge({
  name: 'lapse_outbox_oldest_seconds',
  help: 'Age of the oldest outbox row whose message is not sent.',
});
export const effectRows = new Gauge({
  name: 'lapse_effects_rows',
  help: 'Effects that MySQL has committed and that Redis, a notice or an event still lacks, by kind.',
  labelNames: ['kind'] as const,
});
export const effectOldestSeconds = new Gauge({
  name: 'lapse_effects_oldest_seconds',
  help: 'Age of the oldest of them, by kind.',
  labelNames: ['kind'] as const,
});
export const parked = new Gauge({
  name: 'lapse_parked',
  help: 'What could not be handled and waits for a person, by kind.',
  labelNames: ['kind'] as const,
});
export const noticesFailing = new Gauge({
  name: 'lapse_notices_failing',
  help: 'Notices to buyers that failed at least once and are tried again.',
});
export const undelivered = new Gauge({
  name: 'lapse_undelivered',
  help: 'Notices and shop events that were given up and wait for a person, by kind.',
  labelNames: ['kind'] as const,
});
export const shopEventsWaiting = new Gauge({
  name: 'lapse_shop_events_waiting',
  help: "Events that the shop's own systems have not taken yet.",
});
export const workersAlive = new Gauge({
  name: 'lapse_workers_alive',
  help: 'Processes whose heartbeat is in time, by kind.',
  labelNames: ['kind'] as const,
});
export const workersPaused = new Gauge({
  name: 'lapse_workers_paused',
  help: 'Processes that are alive and that an operator wants to be paused, by kind.',
  labelNames: ['kind'] as const,
});
export const stateReadAt = new Gauge({
  name: 'lapse_state_read_timestamp_seconds',
  help: 'When these figures were last read, in seconds since 1970: older ones are of the past.',
});
