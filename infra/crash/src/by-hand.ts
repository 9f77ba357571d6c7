import type { OrderView } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { failRefund, payBehind, settleRow } from './buyers.ts';
import type { CrashWorld } from './crash-world.ts';

/** A restart, and the settler's next looks. */
const settleTimeoutMs = 60_000;

/** Another amount than the order's: paid back by the operator's word, and once more when that refund fails. */
export async function payWrong(world: CrashWorld, order: OrderView): Promise<void> {
  await payBehind(world, { ...order, amountMinor: order.amountMinor - 1 });
  await settleRow(world, '/v1/ops/refunds/pay', (await readMoney(world, order.id, 'QUARANTINED')).id);
  await failRefund(world, (await readMoney(world, order.id, 'REFUNDED')).refundRef);
  await settleRow(world, '/v1/ops/refunds/pay', (await readMoney(world, order.id, 'REFUND_FAILED')).id);
}

/** The order's payment, once it is in this state. */
async function readMoney({ shop }: CrashWorld, orderId: string, state: string) {
  const find = () =>
    shop.query('SELECT id, refund_ref FROM payment WHERE order_id = UNHEX(?) AND state = ?', [
      orderId.replaceAll('-', ''),
      state,
    ]);
  await waitUntil(async () => (await find()).length > 0, {
    what: `a payment to be ${state}`,
    timeoutMs: settleTimeoutMs,
  });
  const [row] = await find();
  return { id: Number(row?.id), refundRef: String(row?.refund_ref) };
}

/** A message that was set aside, and is put back to work by the operator. */
export async function parkAndRedrive(world: CrashWorld, order: OrderView): Promise<void> {
  const { id: orderId, activityId } = order;
  const dueTime = Date.parse(order.expiresAt);
  const timeoutOrder = { orderId, activityId, userId: 'x', createTime: Date.parse(order.createdAt), dueTime };
  const messageId = `parked ${orderId}`;
  const body = Buffer.from(JSON.stringify({ version: 1, phase: 2, dueTime, orders: [timeoutOrder] }));
  await world.shop.orders.parkMessage({ messageId, phase: 2, reason: 'of the test', body });
  const [parked] = await world.shop.query('SELECT id FROM parked WHERE ref = ?', [messageId]);
  await settleRow(world, '/v1/ops/parked/redrive', Number(parked?.id));
}
