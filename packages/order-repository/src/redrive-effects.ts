import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { expandAttemptsMax } from './expand-effects.ts';
import type { LeftEffect, LeftEffectKind, RedriveEffectOutcome } from './left-effect.ts';
import type { Session } from './session.ts';
import type { SettleRequest, SettleResult } from './settle-result.ts';
import { type SettledRow, settleRows } from './settle-rows.ts';
import { withRetriedSession } from './transaction.ts';

/** Most effects of one page. */
const pageMax = 500;
const idBytes = 16;
const zeroId = '00000000-0000-0000-0000-000000000000';

interface Row {
  readonly id: Buffer;
  readonly kind: LeftEffectKind;
  readonly bytes: number;
  readonly attempts: number;
  readonly created_at: Date;
}

const columns = 'id, kind, LENGTH(order_ids) AS bytes, attempts, created_at';
const expanded = "kind IN ('closed_notice', 'shop_event')";

/** Effects left after all their tries, oldest first; `afterId` is the last id of the page before. */
export function listLeftEffects(
  database: Database,
  { afterId, limit }: { afterId?: string; limit: number },
): Promise<LeftEffect[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<Row>(
      `SELECT ${columns} FROM effect FORCE INDEX (effect_pending)
       WHERE ${expanded} AND attempts >= ? AND id > ? ORDER BY id LIMIT ?`,
      [expandAttemptsMax, idToBytes(afterId ?? zeroId), Math.min(limit, pageMax)],
    );
    return rows.map((row) => ({
      id: idFromBytes(row.id),
      kind: row.kind,
      orders: row.bytes / idBytes,
      attempts: row.attempts,
      createdAt: row.created_at,
    }));
  });
}

/** Have left effects tried again, now and with all their tries, as `settleRows` does it. Asked twice, it is done once. */
export function redriveEffects(
  database: Database,
  request: SettleRequest<string, RedriveEffectOutcome>,
): Promise<SettleResult<RedriveEffectOutcome>> {
  return settleRows<string, RedriveEffectOutcome>(database, request, redriveOne);
}

async function redriveOne(
  session: Session,
  id: string,
  dryRun: boolean,
): Promise<SettledRow<RedriveEffectOutcome>> {
  const [row] = await session.rows<Row>(
    `SELECT ${columns} FROM effect WHERE id = ? AND ${expanded} ${dryRun ? '' : 'FOR UPDATE'}`,
    [idToBytes(id)],
  );
  if (row === undefined) return { outcome: { id, changed: false, kind: 'not_found' } };
  if (row.attempts < expandAttemptsMax) return { outcome: { id, changed: false, kind: 'not_left' } };
  const orders = row.bytes / idBytes;
  const outcome = { id, changed: !dryRun, kind: 'redriven', effect: row.kind, orders } as const;
  if (dryRun) return { outcome };
  await session.run('UPDATE effect SET attempts = 0 WHERE id = ?', [row.id]);
  return {
    outcome,
    action: {
      action: 'redrive_effect',
      targetKind: 'effect',
      target: id,
      detail: { kind: row.kind, orders, attempts: row.attempts },
    },
  };
}
