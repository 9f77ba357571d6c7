import { errorTextMax } from './error-text.ts';
import type { Session } from './session.ts';
import type { DeliveryKind, FailedDelivery } from './undelivered.ts';

/** Give a claimed delivery back, or park it. A claim that is not its latest changes nothing. */
export async function putBack(
  session: Session,
  kind: DeliveryKind,
  { id, attempts }: { readonly id: number; readonly attempts: number },
  outcome: FailedDelivery,
): Promise<void> {
  const { retryInMs = 0, untried = false } = outcome.state === 'WAITING' ? outcome : {};
  await session.run(
    `UPDATE ${kind} SET state = ?, last_error = ?, claimed_until = NULL,
       next_attempt_at = NOW(3) + INTERVAL ? MICROSECOND, attempts_before = attempts_before + ?
     WHERE id = ? AND attempts = ? AND state = 'WAITING'`,
    [outcome.state, outcome.error.slice(0, errorTextMax), retryInMs * 1_000, Number(untried), id, attempts],
  );
}
