import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Finding } from './finding.ts';
import { withRetriedSession } from './transaction.ts';

interface FindingRow {
  readonly id: Buffer;
  readonly at: Date;
  readonly activity_id: number | null;
  readonly kind: string;
  readonly action: string;
  readonly detail: string;
  readonly healed_at: Date | null;
}

const afterAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The auditor's findings, newest first, a page at a time: `beforeId` is the last id of the page before. */
export function listFindings(
  database: Database,
  { beforeId, limit }: { beforeId?: string; limit: number },
): Promise<Finding[]> {
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<FindingRow>(
      `SELECT id, at, activity_id, kind, action, detail, healed_at FROM audit_finding
       WHERE id < ? ORDER BY id DESC LIMIT ?`,
      [idToBytes(beforeId ?? afterAllIds), limit],
    );
    return rows.map((row) => ({
      id: idFromBytes(row.id),
      at: row.at,
      activityId: row.activity_id,
      kind: row.kind,
      action: row.action,
      detail: row.detail,
      healedAt: row.healed_at,
    }));
  });
}
