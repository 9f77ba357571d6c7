import type { WorldPlan } from '../world.ts';

/** One process of each kind, with the settings that everybody has who sets none. */
export const outageWorld: WorldPlan = {
  folder: '.lapse-outages',
  apps: { producer: 1, reminder: 1, closer: 1, sweeper: 1, settler: 1, 'payment-simulator': 1 },
  settings: {},
};

/** Orders that live for ten seconds, so that some fall due in the shortest outage. */
export const outageSale = {
  name: 'outages',
  capacity: 500_000,
  priceMinor: 500,
  currency: 'CNY',
  quantityMax: 1,
  remindAfterMs: 5_000,
  payWithinMs: 10_000,
} as const;
