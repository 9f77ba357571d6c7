import { attemptLasted, park } from '../spoil.ts';
import { attempt } from '../world.ts';
import type { Plant } from './plant.ts';

/** What closes too early, or not at all: I7 and I8. */
export const deadlines: readonly Plant[] = [
  {
    name: 'a close a millisecond early',
    plant: ({ sql, orders }) =>
      sql.query(
        `UPDATE order_transition t JOIN orders o ON o.id = t.order_id
         SET t.at = o.expires_at - INTERVAL 1000 MICROSECOND WHERE o.id = ? AND t.version = 2`,
        [orders.closed.bytes],
      ),
    fails: ['I7'],
    says: /1 × order closed before its deadline/,
    order: 'closed',
    always: true,
  },
  {
    name: 'an unpaid order that nobody closes',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 31 SECOND WHERE id = ?', [
        orders.pending.bytes,
      ]),
    fails: ['I8'],
    says: /1 × order still pending more than 30000 ms past its deadline/,
    order: 'pending',
  },
  {
    name: 'an order that cannot be reminded and is not closed either',
    plant: async ({ sql, orders }) => {
      await sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 HOUR WHERE id = ?', [
        orders.pending.bytes,
      ]);
      await park(sql, orders.pending, 1);
    },
    fails: ['I8'],
    says: /1 × order still pending more than 30000 ms past its deadline/,
    order: 'pending',
  },
  {
    name: 'an order closed while it was being paid',
    plant: async ({ sql, orders }) => {
      await attempt(sql, orders.closed, 'CANCELLED');
      await attemptLasted(sql, orders.closed, 1);
    },
    fails: ['I7'],
    says: /1 × order closed while it was being paid, before its grace was over/,
    order: 'closed',
    always: true,
  },
  {
    name: 'a deadline that moved to an earlier time',
    plant: ({ sql, orders }) =>
      sql.query('UPDATE orders SET first_expires_at = expires_at + INTERVAL 1 SECOND WHERE id = ?', [
        orders.pending.bytes,
      ]),
    fails: ['I7'],
    says: /1 × order whose deadline was moved to before the one that its buyer was told/,
    order: 'pending',
    always: true,
  },
];
