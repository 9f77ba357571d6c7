import type { OperatorRequest, OrderRepository } from '@lapse/order-repository';
import type { ActivityCache } from './activity-cache.ts';
import type { OperatorAnswer } from './extend-order.ts';
import { activityAnswer } from './operator-answer.ts';

export interface CapacityPorts {
  readonly orders: Pick<OrderRepository, 'changeCapacity'>;
  readonly activities: Pick<ActivityCache, 'forget'>;
}

/**
 * Change how many places an activity has, while it sells. MySQL decides. Redis follows by the effect that was
 * committed with the change; until it has, Redis refuses a little too early or MySQL a little later than it.
 */
export async function changeCapacity(
  { orders, activities }: CapacityPorts,
  activityId: number,
  capacity: number,
  request: OperatorRequest,
): Promise<OperatorAnswer> {
  const changed = await orders.changeCapacity(activityId, capacity, request, ({ activity }) =>
    activityAnswer(200, activity),
  );
  switch (changed.kind) {
    case 'done':
      activities.forget(activityId);
      return changed;
    case 'replayed':
      return changed;
    case 'key_reused':
      return { kind: 'refused', problem: { code: 'IDEMPOTENCY_KEY_REUSED' } };
    case 'refused':
      break;
  }
  const { result } = changed;
  if (result.kind === 'not_found') return { kind: 'refused', problem: { code: 'ACTIVITY_NOT_FOUND' } };
  const { capacity: present, taken } = result;
  const detail = `${taken} places are held or sold; the capacity is ${present}.`;
  return { kind: 'refused', problem: { code: 'CAPACITY_BELOW_SOLD', detail, capacity: present, taken } };
}
