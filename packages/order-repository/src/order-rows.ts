import { idToHex } from './binary-id.ts';
import type { NewOrder } from './create-result.ts';
import { type SqlLiteral, sqlBytes, sqlInteger, sqlLiteral, sqlText, sqlTime } from './sql-literal.ts';
import { userToBytes } from './user-bytes.ts';

/**
 * New orders as the rows of `VALUES ?`: id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
 * created_at, remind_at, expires_at, idempotency_key, request_hash, reminder_outbox_id. What a buyer sent goes as hex digits.
 * @throws TypeError for an id that is no lower-case UUID, and for a number that is not whole.
 */
export function orderRows(orders: readonly NewOrder[], outboxId: Buffer): SqlLiteral {
  const outbox = sqlBytes(outboxId);
  return sqlLiteral(orders.map((order) => `(${valuesOf(order)},${outbox})`).join(','));
}

function valuesOf(order: NewOrder): string {
  const { createdAt, remindAt, expiresAt } = order;
  const ids = `x'${idToHex(order.id)}',${sqlInteger(order.activityId)}`;
  const user = sqlBytes(userToBytes(order.userId));
  const units = `${sqlInteger(order.quantity)},${sqlInteger(order.amountMinor)}`;
  const key = sqlBytes(Buffer.from(order.idempotencyKey, 'latin1'));
  const terms = `${sqlText(order.currency)},${sqlText(order.locale)},'PENDING',1`;
  const times = `${sqlTime(createdAt)},${sqlTime(remindAt)},${sqlTime(expiresAt)}`;
  const hash = sqlBytes(order.requestHash);
  return `${ids},${user},${units},${terms},${times},${key},${hash}`;
}
