import type { Phase, TimeoutOrder } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import type { Session } from './session.ts';

/** An outbox row as one of its orders sees it. */
export interface MessageRow {
  readonly id: Buffer;
  readonly phase: Phase;
  readonly order_count: number;
  /** Of this order. The row's own time is the first of all its orders, and the sweep of reminders moves it on. */
  readonly due_at: Date;
  readonly created_at: Date;
  readonly sent_at: Date | null;
  readonly deliver_at: Date | null;
  readonly message_id: string | null;
  readonly attempts: number;
  readonly last_error: string | null;
}

interface NamesMessages {
  readonly id: Buffer;
  readonly reminder_outbox_id: Buffer | null;
  readonly close_outbox_id: Buffer | null;
}

/** The timeout messages that these orders name, oldest first, by the order's id in hex. A body is read once for all. */
export async function readMessages(
  session: Session,
  orders: readonly NamesMessages[],
): Promise<Map<string, MessageRow[]>> {
  const named = new Map<string, Buffer>();
  for (const order of orders) for (const id of idsOf(order)) named.set(id.toString('hex'), id);
  if (named.size === 0) return new Map();
  const rows = await session.rows<MessageRow & { readonly body: string }>(
    `SELECT id, phase, order_count, body, due_at, created_at, sent_at, deliver_at, message_id, attempts, last_error
     FROM message_outbox WHERE id IN (?) ORDER BY created_at, id`,
    [[...named.values()]],
  );
  const messages = new Map<string, MessageRow[]>();
  for (const { body, ...row } of rows) {
    const dueTimes = new Map(
      (JSON.parse(body) as TimeoutOrder[]).map(({ orderId, dueTime }) => [orderId, dueTime]),
    );
    for (const order of orders) {
      if (!idsOf(order).some((id) => id.equals(row.id))) continue;
      const own = dueTimes.get(idFromBytes(order.id));
      const message = own === undefined ? row : { ...row, due_at: new Date(own) };
      const key = order.id.toString('hex');
      messages.set(key, [...(messages.get(key) ?? []), message]);
    }
  }
  return messages;
}

function idsOf({ reminder_outbox_id, close_outbox_id }: NamesMessages): Buffer[] {
  return [reminder_outbox_id, close_outbox_id].filter((id) => id !== null);
}
