import { idToBytes, newId, unpackIds } from './binary-id.ts';
import { effectInsert, shopEventEffect } from './insert-shop-events.ts';
import type { Session } from './session.ts';
import type { ShopEventType } from './shop-event.ts';
import type { SettleEffect } from './stock-effect.ts';

/** Orders are named by their packed ids. */
export interface EffectBatch {
  /** Shared by the effects and the transitions of one transaction. */
  readonly batchId: Buffer;
  readonly kind: SettleEffect['kind'];
  readonly idsByActivity: ReadonlyMap<number, Buffer>;
  /** Orders whose buyers are to be told that they closed. */
  readonly closedNotice?: Buffer;
  /** What the shop is told of all these orders, if it wants to know. */
  readonly shopEvent?: ShopEventType;
}

/**
 * Write down what must follow the commit: one row per activity, one for all notices, one for the shop; one
 * statement.
 */
export async function insertEffects(session: Session, batch: EffectBatch): Promise<SettleEffect[]> {
  const { batchId, kind } = batch;
  const effects: SettleEffect[] = [];
  const values: unknown[][] = [];
  for (const [activityId, packed] of batch.idsByActivity) {
    const id = newId();
    effects.push({ id, kind, activityId, orderIds: unpackIds(packed) });
    values.push([idToBytes(id), batchId, kind, activityId, packed, null]);
  }
  if (batch.closedNotice) {
    values.push([idToBytes(newId()), batchId, 'closed_notice', null, batch.closedNotice, null]);
  }
  if (batch.shopEvent && session.shopEvents) {
    const packed = Buffer.concat([...batch.idsByActivity.values()]);
    values.push(shopEventEffect(batchId, batch.shopEvent, packed));
  }
  await session.run(effectInsert, [values]);
  return effects;
}
