import type { Activity, NewOrder, OrderRepository } from '../src/index.ts';
import { captureOf, createActivity, type Fixture, newOrder } from './fixture.ts';

export const dayMs = 86_400_000;

export interface OldSale {
  readonly activity: Activity;
  /** Two places each. */
  readonly paid: readonly NewOrder[];
  readonly closed: readonly NewOrder[];
}

export const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** A sale of days ago, which has ended since, with all done that there was to do. */
export async function openOldSale(
  fixture: Fixture,
  repository: OrderRepository,
  {
    days = 30,
    paid = 3,
    closed = 2,
    capacity = 100,
  }: { readonly days?: number; readonly paid?: number; readonly closed?: number; readonly capacity?: number },
): Promise<OldSale> {
  const activity = await createActivity(repository, { capacity });
  const due = new Date(Date.now() - 1_000);
  const place = async (count: number, quantity: number): Promise<NewOrder[]> => {
    const orders = Array.from({ length: count }, () =>
      newOrder(activity, { quantity, remindAt: due, expiresAt: due }),
    );
    if (count > 0) await repository.createOrders(orders);
    return orders;
  };
  const sold = await place(paid, 2);
  for (const order of sold) await repository.recordPayment(captureOf(order));
  const ended = await place(closed, 1);
  await repository.closeExpired(
    ended.map(({ id }) => id),
    { cause: 'message' },
  );
  await settle(fixture, repository);
  await age(fixture, activity.id, days);
  return { activity, paid: sold, closed: ended };
}

/** What reminder, closer, settler and sweeper have done once nothing is owed. */
async function settle({ query }: Fixture, repository: OrderRepository): Promise<void> {
  while ((await repository.expandClosedNotices(100)) > 0);
  while ((await repository.expandShopEvents(100)) > 0);
  await query("UPDATE notification SET state = 'SENT', sent_at = NOW(3) WHERE state = 'WAITING'");
  await query("UPDATE shop_event SET state = 'SENT', sent_at = NOW(3) WHERE state <> 'SENT'");
  await query('DELETE FROM effect');
  await query('UPDATE message_outbox SET sent_at = NOW(3), message_id = HEX(id) WHERE sent_at IS NULL');
}

/** As if all of it had been so many days earlier; the sale ends a moment after its last deadline. */
async function age({ query }: Fixture, activityId: number, days: number): Promise<void> {
  const earlier = (...columns: string[]) =>
    columns.map((column) => `${column} = ${column} - INTERVAL ${days} DAY`).join(', ');
  await query(
    `UPDATE orders SET idempotency_key = NULL,
       ${earlier('created_at', 'remind_at', 'expires_at', 'closed_at', 'paid_at')} WHERE activity_id = ?`,
    [activityId],
  );
  await query(`UPDATE order_transition SET ${earlier('at')} WHERE activity_id = ?`, [activityId]);
  await query(
    `UPDATE activity SET ${earlier('created_at')}, sale_ends_at = NOW(3) - INTERVAL ${days} DAY WHERE id = ?`,
    [activityId],
  );
}
