import { ActivityLockedError, InvariantError } from './errors.ts';
import { isLockWaitTimeout } from './mysql-fault.ts';
import type { Session } from './session.ts';

/**
 * Give places back, one update per activity. Last in its transaction and sorted by number: these are the rows
 * everybody shares, so their locks are taken late and in one order.
 * @throws ActivityLockedError naming the one that others kept locked.
 */
export async function creditActivities(
  session: Session,
  credits: readonly { readonly activityId: number; readonly quantity: number }[],
): Promise<void> {
  const sums = new Map<number, number>();
  for (const { activityId, quantity } of credits) {
    sums.set(activityId, (sums.get(activityId) ?? 0) + quantity);
  }
  for (const [activityId, quantity] of [...sums].sort(([a], [b]) => a - b)) {
    const { affectedRows } = await session
      .run('UPDATE activity SET available = available + ? WHERE id = ?', [quantity, activityId])
      .catch((cause: unknown) => {
        throw isLockWaitTimeout(cause)
          ? new ActivityLockedError(activityId, [...sums.keys()], { cause })
          : cause;
      });
    if (affectedRows !== 1) throw new InvariantError(`activity ${activityId} is not there to be credited`);
  }
}
