import { idToBytes, newId, packIds } from './binary-id.ts';
import { effectInsert, shopEventEffect } from './insert-shop-events.ts';
import type { Session } from './session.ts';
import type { ShopEventType } from './shop-event.ts';
import type { SettleEffect } from './stock-effect.ts';

export interface EffectBatch {
  /** Shared by the effects and the transitions of one transaction. */
  readonly batchId: Buffer;
  readonly kind: SettleEffect['kind'];
  readonly idsByActivity: ReadonlyMap<number, readonly string[]>;
  /** Orders whose buyers are to be told that they closed. */
  readonly closedNotice?: readonly string[];
  /** What the shop is told of all these orders, if it wants to know. */
  readonly shopEvent?: ShopEventType;
}

/**
 * Write down what must follow the commit: one row per activity, one for all notices, one for the shop; one
 * statement.
 */
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
    null,
  ]);
  if (batch.closedNotice) {
    const packed = packIds(batch.closedNotice);
    values.push([idToBytes(newId()), batch.batchId, 'closed_notice', null, packed, null]);
  }
  if (batch.shopEvent && session.shopEvents) {
    const ids = effects.flatMap(({ orderIds }) => orderIds);
    values.push(shopEventEffect(batch.batchId, batch.shopEvent, ids));
  }
  await session.run(effectInsert, [values]);
  return effects;
}
