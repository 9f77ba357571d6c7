import { createLatenessMeter, type LatenessMeter } from '@lapse/runtime';

let meter: LatenessMeter | undefined;

/**
 * How late orders close, in seconds: one metric for all that close, because the objective is one. What the sweep closes
 * is late and counts against it; what the settler closes waited for a payment provider, and is not measured.
 */
export function measureLateness(): LatenessMeter {
  meter ??= createLatenessMeter({
    name: 'lapse_close_lateness_seconds',
    help: 'Seconds from the deadline of an order to its close, by the database clock.',
  });
  return meter;
}
