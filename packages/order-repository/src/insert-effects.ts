import { idToBytes, newId, packIds } from './binary-id.ts';
import type { Session } from './session.ts';
import type { SettleEffect } from './stock-effect.ts';

export interface EffectBatch {
  /** Shared by the effects and the transitions of one transaction. */
  readonly batchId: Buffer;
  readonly kind: SettleEffect['kind'];
  readonly idsByActivity: ReadonlyMap<number, readonly string[]>;
  /** Orders whose buyers are to be told that they closed. */
  readonly closedNotice?: readonly string[];
}

/** Write down what must follow the commit: one row per activity, and one for all notices; one statement. */
export async function insertEffects(session: Session, batch: EffectBatch): Promise<SettleEffect[]> {
  const effects = [...batch.idsByActivity].map(
    ([activityId, orderIds]): SettleEffect => ({ id: newId(), kind: batch.kind, activityId, orderIds }),
  );
  const values: unknown[][] = effects.map(({ id, kind, activityId, orderIds }) => [
    idToBytes(id),
    batch.batchId,
    kind,
    activityId,
    packIds(orderIds),
  ]);
  if (batch.closedNotice) {
    const packed = packIds(batch.closedNotice);
    values.push([idToBytes(newId()), batch.batchId, 'closed_notice', null, packed]);
  }
  await session.run('INSERT INTO effect (id, batch_id, kind, activity_id, order_ids) VALUES ?', [values]);
  return effects;
}
