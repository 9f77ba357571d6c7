import type { WorldPlan } from './world.ts';

/** Two of a kind wherever two may work on one thing. */
const apps = {
  producer: 2,
  reminder: 2,
  closer: 2,
  sweeper: 2,
  settler: 2,
  'payment-simulator': 1,
} as const;

/** Quick repairs, so that a short run sees many of them; the broker gives a dead worker's messages away early. */
const settings = {
  LAPSE_INVISIBLE: '10s',
  LAPSE_SWEEP_EVERY: '3s',
  LAPSE_SWEEP_GRACE: '4s',
  LAPSE_ORPHANS_EVERY: '5s',
  LAPSE_ORPHANS_AFTER: '20s',
  LAPSE_PAYMENT_TIMEOUT: '3s',
  LAPSE_LOG_LEVEL: 'info',
} as const;

/** A provider on a bad day; what it does to a payment depends on the run's seed. */
const providerFaults = {
  ...{ apiError: 0.05, apiTimeout: 0.02, apiTimeoutMs: 5_000, processing: 0.15, processingMs: 2_500 },
  ...{ captureAtCancel: 0.25, wrongAmount: 0.03, wrongCurrency: 0.01, refundPending: 0.2 },
  ...{
    duplicate: 0.2,
    twin: 0.1,
    staleFailed: 0.1,
    reorder: 0.1,
    delay: 0.25,
    delayMs: 2_000,
    dropFirst: 0.1,
  },
} as const;

/** Everything twice, quick to repair, and a provider whose faults the seed decides. */
export function chaosWorld(seed: number): WorldPlan {
  const LAPSE_SIM_FAULTS = JSON.stringify({ seed, ...providerFaults });
  return { folder: '.lapse-chaos', apps, settings: { ...settings, LAPSE_SIM_FAULTS } };
}
