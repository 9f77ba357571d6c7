import type { Session } from './session.ts';

/** A person has seen to a refund that failed at the provider: it is ordered anew, or was paid by hand. */
export async function healRefundFinding(session: Session, findingId: Buffer | null): Promise<void> {
  if (findingId === null) return;
  await session.run('UPDATE audit_finding SET healed_at = NOW(3) WHERE id = ? AND healed_at IS NULL', [
    findingId,
  ]);
}
