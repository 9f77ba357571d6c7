import { Counter, createLatenessMeter } from '@lapse/runtime';

/** Milliseconds from an order's deadline to its close, both by the database clock. */
export const closeLateness = createLatenessMeter({
  name: 'lapse_close_lateness_ms',
  help: 'Milliseconds from the deadline of an order to its close, by the database clock.',
});

export const ordersHandled = new Counter({
  name: 'lapse_closer_orders_total',
  help: 'Orders that phase-2 messages brought, by what became of them.',
  labelNames: ['outcome'] as const,
});

export const effectsLeft = new Counter({
  name: 'lapse_closer_effects_left_total',
  help: 'Stock releases that Redis did not take at once and that the sweeper applies.',
});
