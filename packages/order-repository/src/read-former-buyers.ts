import { expiredKeysPlace } from './expire-keys.ts';
import type { Session } from './session.ts';
import { userFromBytes } from './user-bytes.ts';

/** Orders read by one statement, within half a second; of more no list is made. */
const formerBuyersMax = 200_000;

/**
 * Buyers of an activity's orders that have ended and whose idempotency key is kept, for as long as the caller's lock
 * of the activity keeps others from ending. Where the keys are expired, only orders after the place of that walk are
 * looked at: ids sort by time, as long as no two clocks differ by a day. Not in pages: MariaDB does not know that these index entries come in the order of their ids.
 * @returns null when there are more than it reads.
 */
export async function readFormerBuyers(
  session: Session,
  activityId: number,
  max: number = formerBuyersMax,
): Promise<string[] | null> {
  const rows = await session.rows<{ user_id: Buffer }>(
    `SELECT user_id FROM orders FORCE INDEX (orders_active_user)
     WHERE activity_id = ? AND active_user IS NULL AND id > ? AND idempotency_key IS NOT NULL LIMIT ?`,
    [activityId, await expiredKeysPlace(session), max + 1],
  );
  return rows.length > max ? null : rows.map(({ user_id }) => userFromBytes(user_id));
}
