import { idToBytes, newId, packIds } from './binary-id.ts';
import type { Session } from './session.ts';
import type { CapacityEffect, ReacquireEffect } from './stock-effect.ts';

/** Write down that Redis must sell to these orders again, which closed and were then paid, all of one activity. */
export async function insertReacquireEffect(
  session: Session,
  batchId: Buffer,
  activityId: number,
  orders: ReacquireEffect['orders'],
): Promise<ReacquireEffect> {
  const orderIds = orders.map(({ orderId }) => orderId);
  const effect: ReacquireEffect = { id: newId(), kind: 'reacquire', activityId, orderIds, orders };
  await insertRow(session, batchId, effect, null);
  return effect;
}

/** Write down that Redis must follow a change of capacity. `version` is the activity's, raised by this change. */
export async function insertCapacityEffect(
  session: Session,
  activityId: number,
  change: { readonly version: number; readonly capacity: number },
): Promise<CapacityEffect> {
  const effect: CapacityEffect = { id: newId(), kind: 'capacity', activityId, orderIds: [], ...change };
  await insertRow(session, idToBytes(newId()), effect, `${change.version}:${change.capacity}`);
  return effect;
}

async function insertRow(
  session: Session,
  batchId: Buffer,
  { id, kind, activityId, orderIds }: ReacquireEffect | CapacityEffect,
  detail: string | null,
): Promise<void> {
  await session.run(
    'INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, detail) VALUES (?, ?, ?, ?, ?, ?)',
    [idToBytes(id), batchId, kind, activityId, packIds(orderIds), detail],
  );
}
