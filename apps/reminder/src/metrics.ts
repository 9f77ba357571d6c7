import { Counter, createLatenessMeter } from '@lapse/runtime';

/** Seconds from an order's reminder time to the claim of its reminder, by the database clock. */
export const remindLateness = createLatenessMeter({
  name: 'lapse_remind_lateness_seconds',
  help: 'Seconds from the reminder time of an order to its reminder, by the database clock.',
});

export const ordersHandled = new Counter({
  name: 'lapse_reminder_orders_total',
  help: 'Orders that phase-1 messages brought, by what became of them.',
  labelNames: ['outcome'] as const,
});

export const noticesHandled = new Counter({
  name: 'lapse_notices_total',
  help: 'Notices to buyers, by stage and by what became of the attempt.',
  labelNames: ['stage', 'outcome'] as const,
});

export const shopEventsHandled = new Counter({
  name: 'lapse_shop_events_total',
  help: 'Events for the shop, by type and by what became of the attempt.',
  labelNames: ['type', 'outcome'] as const,
});
