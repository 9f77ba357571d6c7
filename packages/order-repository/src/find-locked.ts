import { sleep } from '@lapse/runtime';
import { ActivityLockedError } from './errors.ts';
import { isLockWaitTimeout } from './mysql-fault.ts';
import type { Session } from './session.ts';

/**
 * A sale locks its activity for milliseconds, too: only what is locked at every look counts as locked. Beside three
 * busy producers one look found a free activity locked 33 times in 100.
 */
const looksMax = 3;
const betweenLooksMs = 25;

/**
 * Which of these activities others keep locked, in the order of their numbers.
 * @param inSession lends a session for one look. Outside a transaction nothing is kept locked; inside one, those that are
 * free are locked from then on.
 */
export async function findLocked(
  inSession: <T>(use: (session: Session) => Promise<T>) => Promise<T>,
  activityIds: readonly number[],
): Promise<readonly number[]> {
  let locked = activityIds.toSorted((a, b) => a - b);
  for (let look = 1; look <= looksMax && locked.length > 0; look += 1) {
    if (look > 1) await sleep(betweenLooksMs);
    const ids = locked;
    const rows = await inSession((session) =>
      session.rows<{ id: number }>('SELECT id FROM activity WHERE id IN (?) FOR UPDATE SKIP LOCKED', [ids]),
    );
    const free = new Set(rows.map(({ id }) => id));
    locked = ids.filter((id) => !free.has(id));
  }
  return locked;
}

/**
 * A lock that was waited for in vain gets the name of its activity: the lowest number that stays locked, since they are
 * locked in that order.
 * @throws ActivityLockedError with that name; the statement's own error when none is locked by now: then it is worth
 * another try.
 */
export async function orLocked<T>(
  session: Session,
  ids: readonly number[],
  statement: Promise<T>,
): Promise<T> {
  try {
    return await statement;
  } catch (cause) {
    if (!isLockWaitTimeout(cause)) throw cause;
    const [only] = ids.length === 1 ? ids : await findLocked((use) => use(session), ids);
    throw only === undefined ? cause : new ActivityLockedError(only, ids, { cause });
  }
}
