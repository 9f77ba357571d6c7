import { measureLateness } from '@lapse/order-flow';
import { Counter } from '@lapse/runtime';

export const closeLateness = measureLateness();

export const ordersHandled = new Counter({
  name: 'lapse_closer_orders_total',
  help: 'Orders that phase-2 messages brought, by what became of them.',
  labelNames: ['outcome'] as const,
});

export const effectsLeft = new Counter({
  name: 'lapse_closer_effects_left_total',
  help: 'Stock releases that Redis did not take at once and that the sweeper applies.',
});
