import { Gauge } from '@lapse/runtime';

const overdueLimit = new Gauge({
  name: 'lapse_orders_overdue_limit_seconds',
  help: 'How far past its deadline an order can be while this sweeper does as it is told; beyond that is an alarm.',
});
const auditLimit = new Gauge({
  name: 'lapse_sweeper_audit_limit_seconds',
  help: 'How old the end of the last audit can be while this sweeper does as it is told; beyond that is an alarm.',
});

/** A sweep takes its time too: with the default settings the limit is 30 s. */
const sweepTakesMs = 5_000;
/** One audit may fail or be long; and a quarter of an hour without any hurts nobody. */
const auditsMissed = 3;
const auditAgeMinMs = 900_000;

/** Say what is late under these settings, so that an alert fits them all: a shop may want to sweep every five minutes. */
export function showLimits(config: {
  readonly graceMs: number;
  readonly everyMs: number;
  readonly auditEveryMs: number;
}): void {
  overdueLimit.set((config.graceMs + config.everyMs + sweepTakesMs) / 1_000);
  auditLimit.set(Math.max(auditAgeMinMs, auditsMissed * config.auditEveryMs) / 1_000);
}
