import { decodeHistory } from './archive-history.ts';
import { idFromBytes } from './binary-id.ts';
import type { Order } from './order.ts';
import { toOrder } from './order-row.ts';
import type { Session } from './session.ts';
import type { TransitionRow } from './timeline-rows.ts';

export interface ArchivedOrder {
  readonly order: Order;
  readonly archivedAt: Date;
  /** By the database clock, when it was read. */
  readonly now: Date;
  readonly transitions: readonly Pick<TransitionRow, 'version' | 'at'>[];
  /** Undefined: it never was. */
  readonly remindedAt: Date | undefined;
}

/**
 * Those of these orders that the archive has, by their id. It lets go of none of them before the caller's transaction has
 * ended, so that what is written for one is not left behind.
 */
export async function readArchivedOrders(
  session: Session,
  ids: readonly Buffer[],
): Promise<ReadonlyMap<string, ArchivedOrder>> {
  if (ids.length === 0) return new Map();
  const rows = await session.rows<{ order_id: Buffer; archived_at: Date; history: Buffer; now: Date }>(
    'SELECT order_id, archived_at, history, NOW(3) AS now FROM order_archive WHERE order_id IN (?) LOCK IN SHARE MODE',
    [ids],
  );
  return new Map(
    rows.map(({ order_id, archived_at: archivedAt, history, now }) => {
      const { order, transitions, notifications } = decodeHistory(history);
      const remindedAt = notifications.find(({ stage }) => stage === 'REMINDER')?.created_at;
      return [idFromBytes(order_id), { order: toOrder(order), archivedAt, now, transitions, remindedAt }];
    }),
  );
}
