import { createLatenessMeter, type LatenessMeter } from '@lapse/runtime';

let meter: LatenessMeter | undefined;

/**
 * How late orders close, in seconds: one metric for all that close, because the objective is one. What the sweep closes
 * is late and counts against it, and so does what the settler closes when a grace is over; what waited for a provider that
 * then said that no money would come is not measured. The page reads the same orders from MySQL, by what closed them.
 */
export function measureLateness(): LatenessMeter {
  meter ??= createLatenessMeter({
    name: 'lapse_close_lateness_seconds',
    help: 'Seconds from the deadline of an order to its close, by the database clock.',
  });
  return meter;
}
