import { closeContenders } from '../close-burst/close-contenders.ts';
import { closing } from '../close-burst/closing.ts';
import type { BurstTask } from './burst-task.ts';
import type { BurstContender } from './contender.ts';

/** Who can do what: where a contender's own process finds itself, by the two names. */
export const burstTasks: readonly {
  readonly task: BurstTask;
  readonly contenders: readonly BurstContender[];
}[] = [{ task: closing, contenders: closeContenders }];
