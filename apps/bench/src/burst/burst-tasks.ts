import { closeContenders } from '../close-burst/close-contenders.ts';
import { closing } from '../close-burst/closing.ts';
import { closerCounts } from '../close-burst/two-closers.ts';
import { notifying } from '../remind-burst/notifying.ts';
import { remindContenders } from '../remind-burst/remind-contenders.ts';
import { reminding } from '../remind-burst/reminding.ts';
import type { BurstTask } from './burst-task.ts';
import type { BurstContender } from './contender.ts';

/** Who can do what: where a contender's own process finds itself, by the two names. */
export const burstTasks: readonly {
  readonly task: BurstTask;
  readonly contenders: readonly BurstContender[];
}[] = [
  { task: closing, contenders: [...closeContenders, ...closerCounts] },
  { task: reminding, contenders: remindContenders },
  { task: notifying, contenders: remindContenders },
];
