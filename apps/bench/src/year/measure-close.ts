import type { RowDataPacket } from 'mysql2/promise';
import { withLapseStores } from '../lapse-stores.ts';
import type { RunStores } from '../open-stores.ts';
import { idsOf, prepareSale, type SaleActivity, setDueTimes } from '../sale.ts';
import type { Cpu } from './cpu.ts';

/** As a closer takes them. */
const ordersPerBatch = 2_000;

/**
 * Close a sale that is due, as a closer does it: in MySQL, in full batches. What follows in Redis does not know of the
 * rows beside it, and is left out. The sale is taken away again: what is measured next has the same rows beside it.
 * @returns CPU an order, in microseconds.
 */
export async function measureClose(stores: RunStores, orders: number, cpu: Cpu) {
  const sold = await prepareSale(stores, { places: orders });
  try {
    return await closeSale(stores, sold, orders, cpu);
  } finally {
    await removeSale(stores, idsOf(sold));
  }
}

async function closeSale(stores: RunStores, sold: readonly SaleActivity[], orders: number, cpu: Cpu) {
  await setDueTimes(stores.mysql, { activities: sold }, 'expires_at', Date.now() - 1_000);
  const [rows] = await stores.mysql.query<RowDataPacket[]>(
    'SELECT LOWER(HEX(id)) AS id FROM orders WHERE activity_id IN (?) ORDER BY id',
    [idsOf(sold)],
  );
  const ids = rows.map(({ id }) => String(id).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
  return await withLapseStores(stores, async ({ repository }) => {
    const before = cpu();
    let closed = 0;
    for (let at = 0; at < ids.length; at += ordersPerBatch) {
      const batch = ids.slice(at, at + ordersPerBatch);
      closed += (await repository.closeExpired(batch, { cause: 'message' })).closed.length;
    }
    const after = cpu();
    if (closed !== orders) throw new Error(`${closed} of ${orders} orders closed`);
    return {
      mysqlUs: (after.mysqlUs - before.mysqlUs) / orders,
      nodeUs: (after.nodeUs - before.nodeUs) / orders,
    };
  });
}

async function removeSale({ mysql }: RunStores, activityIds: readonly number[]): Promise<void> {
  await mysql.query(
    `DELETE m FROM message_outbox m
     JOIN (SELECT DISTINCT reminder_outbox_id AS id FROM orders WHERE activity_id IN (?)) AS used ON used.id = m.id`,
    [activityIds],
  );
  await mysql.query('DELETE FROM effect');
  for (const table of ['order_transition', 'orders']) {
    await mysql.query(`DELETE FROM ${table} WHERE activity_id IN (?)`, [activityIds]);
  }
  await mysql.query('DELETE FROM activity WHERE id IN (?)', [activityIds]);
}
