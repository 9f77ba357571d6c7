import type { NewFinding } from './audit.ts';
import { idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';

/** Longest detail kept, in characters of JSON. */
const detailMax = 10_000;

/** Write down what an audit found, before anything is done about it. @returns the ids, in input order. */
export async function recordFindings(database: Database, findings: readonly NewFinding[]): Promise<string[]> {
  if (findings.length === 0) return [];
  return withRetriedSession(database, (session) => insertFindings(session, findings));
}

/** The same, as a part of the caller's transaction. At least one finding. */
export async function insertFindings(session: Session, findings: readonly NewFinding[]): Promise<string[]> {
  const rows = findings.map(({ activityId, kind, action, detail }) => {
    const text = JSON.stringify(detail);
    const kept = text.length <= detailMax ? text : JSON.stringify({ cut: text.slice(0, detailMax / 2) });
    return { id: newId(), values: [activityId, kind, action, kept] };
  });
  await session.run(
    `INSERT INTO audit_finding (id, at, activity_id, kind, action, detail) VALUES ${rows
      .map(() => '(?, NOW(3), ?, ?, ?, ?)')
      .join(', ')} ON DUPLICATE KEY UPDATE id = audit_finding.id`,
    rows.flatMap(({ id, values }) => [idToBytes(id), ...values]),
  );
  return rows.map(({ id }) => id);
}

/** Note that what these findings name is healed. Idempotent. */
export async function markFindingsHealed(database: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await withRetriedSession(database, (session) =>
    session.run('UPDATE audit_finding SET healed_at = NOW(3) WHERE id IN (?) AND healed_at IS NULL', [
      ids.map(idToBytes),
    ]),
  );
}
