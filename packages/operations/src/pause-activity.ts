import { activityPauseView } from '@lapse/contracts';
import type { OrderRepository, SettleOptions } from '@lapse/order-repository';
import type { OperatorAnswer } from './operator-answer.ts';
import { toActivityView } from './order-view.ts';

export interface PauseActivityPorts {
  readonly orders: Pick<OrderRepository, 'setActivityPaused'>;
  /** Told of the change, so that a cache of activities does not go on with what was. */
  readonly activities: { forget(id: number): void };
}

/**
 * Pause the sale of an activity, or go on with it, by an operator's hand. This process follows at once, others within
 * the second that their cache keeps an activity; what is being written then is sold.
 */
export async function pauseActivity(
  { orders, activities }: PauseActivityPorts,
  id: number,
  paused: boolean,
  options: SettleOptions,
): Promise<OperatorAnswer> {
  const { dryRun } = options;
  const done = await orders.setActivityPaused(id, paused, options, ({ activity, changes }) => ({
    status: 200,
    body: Buffer.from(
      JSON.stringify(activityPauseView.parse({ dryRun, changes, activity: toActivityView(activity) })),
    ),
  }));
  switch (done.kind) {
    case 'done':
      activities.forget(id);
      return done;
    case 'replayed':
      return done;
    case 'key_reused':
      return { kind: 'refused', problem: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    case 'refused':
      return {
        kind: 'refused',
        problem: { code: done.result.kind === 'archived' ? 'ACTIVITY_ARCHIVED' : 'ACTIVITY_NOT_FOUND' },
      };
  }
}
