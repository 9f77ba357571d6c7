import type { OrderStatus } from '@lapse/contracts';
import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Parked, ParkedOutcome } from './parked.ts';
import type { Session } from './session.ts';
import { type ParkedRequest, settleParked, type Verdict } from './settle-parked.ts';
import type { SettleResult } from './settle-result.ts';

/**
 * Be done with parked rows without doing anything about them. Safe for messages and dead letters: their
 * orders are closed and reminded by the sweeps, which need no message. An order that is still pending is
 * refused: it holds its places, and nobody would look at it again.
 */
export function dropParked(database: Database, request: ParkedRequest): Promise<SettleResult<ParkedOutcome>> {
  return settleParked(database, request, { action: 'drop', toState: 'DROPPED', decide: drop });
}

async function drop(session: Session, { kind, orderId }: Parked): Promise<Verdict> {
  if (kind === 'order' && orderId !== null) {
    const [row] = await session.rows<{ status: OrderStatus }>('SELECT status FROM orders WHERE id = ?', [
      idToBytes(orderId),
    ]);
    if (row?.status === 'PENDING') return { kind: 'still_pending', orderId };
  }
  return { kind: 'dropped' };
}
