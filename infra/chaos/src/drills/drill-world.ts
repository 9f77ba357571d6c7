import type { WorldPlan } from '../world.ts';

/** One process of each kind. A payment without its order goes back soon, so that a drill sees it. */
export const drillWorld: WorldPlan = {
  folder: '.lapse-drills',
  apps: { producer: 1, reminder: 1, closer: 1, sweeper: 1, settler: 1, 'payment-simulator': 1 },
  settings: { LAPSE_PAYMENT_KEPT_MAX: '15s' },
};
