import { burstScenario } from '../burst/burst-scenario.ts';
import { notifying } from './notifying.ts';
import { lapse, remindContenders } from './remind-contenders.ts';
import { reminding } from './reminding.ts';

/** All orders of one activity to be reminded at one moment: how soon is each claimed, and what does it cost? */
export const remindBurst = burstScenario({
  name: 'remind-burst',
  about:
    'all orders due for their reminder at one moment; the time until the last claim is committed, with its notice and ' +
    'its closing message. Notices are delivered meanwhile, and not waited for: notice-burst does',
  size: { full: 100_000, quick: 20_000 },
  contenders: remindContenders,
  task: reminding,
  slowest: () => 8_000,
});

/** The same until each buyer was told. */
export const noticeBurst = burstScenario({
  name: 'notice-burst',
  about:
    'all orders due for their reminder at one moment; the time until the last notice is in the log and settled',
  size: { full: 5_000, quick: 1_000 },
  rounds: 1,
  contenders: [lapse],
  task: notifying,
  slowest: () => 500,
});
