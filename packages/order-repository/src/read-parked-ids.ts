import type { Phase } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import type { Session } from './session.ts';

/** As many as are looked up for each batch. Beyond it a parked order fails again, and is parked again. */
const parkedKnownMax = 1_000;

/** The orders set aside in this phase, or in a later one, and not redriven since. One short read of an index that is all but empty; a join in the locking read would lock more. */
export async function readParkedIds(session: Session, phase: Phase): Promise<ReadonlySet<string>> {
  const rows = await session.rows<{ order_id: Buffer }>(
    `SELECT order_id FROM parked
     WHERE state = 'PARKED' AND order_id IS NOT NULL AND phase >= ? ORDER BY order_id LIMIT ?`,
    [phase, parkedKnownMax],
  );
  return new Set(rows.map(({ order_id }) => idFromBytes(order_id)));
}
