import type { OutboxRow, Phase, TimeoutOrder } from '@lapse/contracts';
import { idToBytes } from './binary-id.ts';
import type { Session } from './session.ts';
import { sqlLiteral, sqlText } from './sql-literal.ts';

/**
 * Write down that these orders need their message of this phase. Part of the transaction that made it
 * necessary: committed with it or not at all.
 */
export async function insertOutboxRow(
  session: Session,
  id: string,
  phase: Phase,
  orders: readonly TimeoutOrder[],
): Promise<OutboxRow> {
  const dueAt = new Date(orders.reduce((least, { dueTime }) => Math.min(least, dueTime), Infinity));
  await session.run(
    `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at)
     VALUES (?, ?, ?, ?, ?, NOW(3))`,
    [idToBytes(id), phase, sqlLiteral(sqlText(JSON.stringify(orders))), orders.length, dueAt],
  );
  return { id, phase, orders };
}
