import type { Session } from './session.ts';
import type { TimelineAction, TimelineParked } from './timeline.ts';
import { userFromBytes } from './user-bytes.ts';

/** Only what still waits for a person. */
export async function readParked(session: Session, orderId: Buffer): Promise<TimelineParked[]> {
  const rows = await session.rows<{ id: number; reason: string; created_at: Date }>(
    "SELECT id, reason, created_at FROM parked WHERE order_id = ? AND state = 'PARKED' ORDER BY created_at, id",
    [orderId],
  );
  return rows.map((row) => ({ id: row.id, reason: row.reason, createdAt: row.created_at }));
}

/** Most actions shown: an operator's script could make any number. */
const actionsMax = 200;

export async function readActions(session: Session, orderId: string): Promise<TimelineAction[]> {
  const rows = await session.rows<{
    at: Date;
    actor: Buffer;
    action: string;
    reason: string;
    detail: string | null;
  }>(
    `SELECT at, actor, action, reason, detail FROM operator_action
     WHERE target_kind = 'order' AND target = ? ORDER BY at, id LIMIT ?`,
    [Buffer.from(orderId), actionsMax],
  );
  return rows.map((row) => ({
    at: row.at,
    actor: userFromBytes(row.actor),
    action: row.action,
    reason: row.reason,
    detail: row.detail === null ? {} : (JSON.parse(row.detail) as TimelineAction['detail']),
  }));
}
