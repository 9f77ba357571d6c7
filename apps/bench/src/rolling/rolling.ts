import { apps } from '../app-program.ts';
import type { Scenario } from '../scenario.ts';
import { runRolling } from './run-rolling.ts';

const setUpSeconds = 30;
const perSecond = 200;
const times = { payWithinMs: 10_000, remindAfterMs: 5_000 };

/** A release in the middle of a sale: does anybody notice? */
export const rolling: Scenario = {
  name: 'rolling',
  about:
    `${perSecond} orders a second over HTTP, none paid, while each of two producers, reminders, closers, settlers and ` +
    'sweepers is replaced: a new one started, the old one told to end; lateness by the database clock, answers other than 201 are a fault',
  size: { full: perSecond * 120, quick: perSecond * 120 },
  rounds: 1,
  contenders: [
    {
      name: 'lapse',
      about:
        'two of each process, default settings, behind a balancer of connections; the CPU time is that of the services alone',
      seconds: (size) => setUpSeconds + size / perSecond + times.payWithinMs / 1_000,
      run: (options) => runRolling({ perSecond, times, warmUpMs: 5_000, replaced: apps }, options),
    },
  ],
};
