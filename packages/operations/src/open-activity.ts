import type { CreateActivityBody } from '@lapse/contracts';
import type { Activity, OperatorRequest, OperatorResult, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { activityAnswer } from './operator-answer.ts';

export interface OpenActivityPorts {
  readonly orders: Pick<OrderRepository, 'noteFirstLoad' | 'openActivity'>;
  readonly stock: Pick<Stock, 'load'>;
  readonly log: Logger;
}

/**
 * Write an activity to MySQL, then load its stock into Redis. Without Redis the activity exists all the same
 * and refuses orders with STOCK_NOT_READY, until the sweeper has seen that its stock is missing and loads it. So it
 * is when this process dies before it has noted which server took the stock.
 * Idempotent where the request has a key; without one a repeat makes another activity.
 */
export async function openActivity(
  { orders, stock, log }: OpenActivityPorts,
  body: CreateActivityBody,
  request: OperatorRequest,
): Promise<OperatorResult<Activity, never>> {
  const opened = await orders.openActivity(body, request, (activity) => activityAnswer(201, activity));
  if (opened.kind !== 'done') return opened;
  const activity = opened.result;
  try {
    const runId = await stock.load(
      {
        activityId: activity.id,
        generation: activity.generation,
        capacity: activity.capacity,
        capacityVersion: activity.capacityVersion,
        stock: activity.capacity,
        holds: [],
        formerBuyers: [],
      },
      // Only where nothing is: a sweeper may have loaded it, and buyers bought, while this process stood still.
      '',
    );
    await orders.noteFirstLoad(activity.id, { generation: activity.generation, runId });
  } catch (error) {
    log.warn({ err: error, activityId: activity.id }, 'stock of a new activity is left to the sweeper');
  }
  return opened;
}
