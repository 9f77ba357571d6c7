import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OperatorRequest, OrderRepository } from '@lapse/order-repository';
import { activityAnswer, type OperatorAnswer } from './operator-answer.ts';

export interface CapacityPorts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'changeCapacity' | 'markEffectsApplied'>;
  /** Told of the change, so that a cache of activities does not answer with the old capacity. */
  readonly activities: { forget(id: number): void };
}

/**
 * Change how many places an activity has, while it sells. MySQL decides. Redis follows by the effect that was
 * committed with the change, at once when it can, else by the sweeper: until then Redis refuses a little early
 * (the capacity rose), or MySQL refuses what Redis let through (it fell).
 */
export async function changeCapacity(
  ports: CapacityPorts,
  activityId: number,
  capacity: number,
  request: OperatorRequest,
): Promise<OperatorAnswer> {
  const changed = await ports.orders.changeCapacity(activityId, capacity, request, ({ activity }) =>
    activityAnswer(200, activity),
  );
  switch (changed.kind) {
    case 'done':
      ports.activities.forget(activityId);
      if (changed.result.effect) await applyEffects(ports, [changed.result.effect]);
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
  if (result.kind === 'archived') return { kind: 'refused', problem: { code: 'ACTIVITY_ARCHIVED' } };
  const { capacity: present, taken } = result;
  const detail = `${taken} places are held or sold; the capacity is ${present}.`;
  return { kind: 'refused', problem: { code: 'CAPACITY_BELOW_SOLD', detail, capacity: present, taken } };
}
