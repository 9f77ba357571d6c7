import { type Phase, timeoutMessage } from '@lapse/contracts';
import { sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Parked, ParkedOutcome } from './parked.ts';
import { rearmLocked, selectRearmable } from './rearm.ts';
import type { Session } from './session.ts';
import { type ParkedRequest, settleParked, type Verdict } from './settle-parked.ts';
import type { SettleResult } from './settle-result.ts';

/**
 * Put parked rows back to work once their cause is gone: their orders that still have something to do in
 * their phase get a new outbox row, which the sweeper sends. An order is no longer passed over from then
 * on, so the sweeps take it too. One that fails again is parked again. A message that cannot be read stays
 * parked: only a release that reads it, or a drop, helps.
 */
export function redriveParked(
  database: Database,
  request: ParkedRequest,
): Promise<SettleResult<ParkedOutcome>> {
  return settleParked(database, request, { action: 'redrive', toState: 'REDRIVEN', decide: redrive });
}

async function redrive(session: Session, parked: Parked, dryRun: boolean): Promise<Verdict> {
  const target = readTarget(parked);
  if ('unreadable' in target) return { kind: 'unreadable', reason: target.unreadable };
  const { phase, orderIds } = target;
  const rows = await selectRearmable(session, phase, sortedIdBytes(orderIds), !dryRun);
  if (!dryRun) await rearmLocked(session, phase, rows);
  return { kind: 'redriven', rearmed: rows.length };
}

type Target = { readonly phase: Phase; readonly orderIds: string[] } | { readonly unreadable: string };

/** The phase is the body's own: a message on the wrong topic is for its orders what it says it is. */
function readTarget({ kind, orderId, phase, body }: Parked): Target {
  if (kind === 'order') {
    return orderId !== null && phase !== null
      ? { phase, orderIds: [orderId] }
      : { unreadable: 'the row names no order' };
  }
  let json: unknown;
  try {
    json = JSON.parse((body ?? Buffer.alloc(0)).toString('utf8'));
  } catch {
    return { unreadable: 'its body is not JSON' };
  }
  const parsed = timeoutMessage.safeParse(json);
  if (!parsed.success) return { unreadable: 'its body is not a timeout message of this release' };
  return { phase: parsed.data.phase, orderIds: parsed.data.orders.map((order) => order.orderId) };
}
