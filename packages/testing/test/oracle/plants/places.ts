import { holds } from '../spoil.ts';
import { activity, archiveSale } from '../world.ts';
import type { Plant } from './plant.ts';

/** Places of MySQL and Redis: I1, I2 and I3. */
export const places: readonly Plant[] = [
  {
    name: 'an archived place that its activity does not count',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('UPDATE activity SET sold_archived_orders = 0, sold_archived_units = 0');
    },
    fails: ['I1'],
    says: /1 × activity whose available units.*; 1 × activity that counts fewer archived places/,
    order: 'paid',
    always: true,
  },
  {
    name: 'a place that is counted as archived and not taken',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query('UPDATE activity SET sold_archived_units = 2');
    },
    fails: ['I1'],
    says: /1 × activity whose available units/,
    always: true,
  },
  {
    name: 'an archived activity that Redis has not forgotten',
    plant: async (here) => {
      await archiveSale(here);
      await here.redis.set(`${activity.keys}:stock`, 9);
    },
    fails: ['I3'],
    says: /activity 42 is archived, and 1 keys of it are in Redis/,
  },
  {
    name: 'an archived activity of which it is not noted that Redis has forgotten it',
    plant: async (here) => {
      await archiveSale(here);
      await here.sql.query("UPDATE activity SET stock_run_id = 'a run id'");
    },
    fails: ['I3'],
    says: /activity 42 is archived, and it is not noted/,
  },
  {
    name: 'more held than the capacity',
    plant: async ({ sql, orders }) => {
      await sql.query('UPDATE orders SET quantity = 10 WHERE id = ?', [orders.pending.bytes]);
      await sql.query('UPDATE activity SET available = 0');
    },
    fails: ['I1', 'I3'],
    says: /1 × activity with more units sold and held than its capacity/,
    always: true,
  },
  {
    name: 'a unit of MySQL stock that went missing',
    plant: ({ sql }) => sql.query('UPDATE activity SET available = 6'),
    fails: ['I1', 'I3'],
    says: /1 × activity whose available units/,
    always: true,
  },
  {
    name: 'a unit of Redis stock out of nothing',
    plant: ({ redis }) => redis.incr(`${activity.keys}:stock`),
    fails: ['I2', 'I3'],
    says: /activity 42 in Redis: free 8 \+ held 2 \+ sold 1 is not 10/,
    always: true,
  },
  {
    name: 'Redis stock below zero',
    plant: ({ redis }) => redis.set(`${activity.keys}:stock`, -3),
    fails: ['I2', 'I3'],
    says: /the counter is -3/,
    always: true,
  },
  {
    name: 'a hold that cannot be read',
    plant: ({ redis }) => redis.hset(holds, 'x', 'nonsense'),
    fails: ['I2'],
    says: /1 holds cannot be read/,
    always: true,
  },
  {
    name: 'Redis that adds up and still differs from MySQL',
    plant: async ({ redis }) => {
      await redis.decrby(`${activity.keys}:stock`, 2);
      await redis.hset(holds, '01900000-0000-7000-8000-000000000000', 'h:2:1700000000000:orphan');
      await redis.sadd(`${activity.keys}:users`, 'orphan');
    },
    fails: ['I3'],
    says: /1 × active hold in Redis of an order that is unknown in MySQL/,
  },
  {
    name: 'a paid order still held in Redis',
    plant: ({ redis, orders }) => redis.hset(holds, orders.paid.id, `h:1:1700000000000:${orders.paid.user}`),
    fails: ['I3'],
    says: /1 × PAID in MySQL, in Redis with another state, quantity or user/,
    order: 'paid',
  },
  {
    name: 'a hold of the right number for another user',
    plant: ({ redis, orders }) => redis.hset(holds, orders.pending.id, 'h:2:1700000000000:somebody'),
    fails: ['I3'],
    says: /1 × PENDING in MySQL, in Redis with another state, quantity or user/,
    order: 'pending',
  },
  {
    name: 'one user exchanged for another',
    plant: async ({ redis, orders }) => {
      await redis.srem(`${activity.keys}:users`, orders.pending.user);
      await redis.sadd(`${activity.keys}:users`, 'somebody');
    },
    fails: ['I3'],
    says: /1 × active order whose user is not among the users in Redis/,
    order: 'pending',
  },
  {
    name: 'a pending order without its hold',
    plant: async ({ redis, orders }) => {
      await redis.hdel(holds, orders.pending.id);
      await redis.incrby(`${activity.keys}:stock`, 2);
    },
    fails: ['I3'],
    says: /1 × PENDING in MySQL, without a hold in Redis/,
    order: 'pending',
  },
  {
    name: 'an empty Redis',
    plant: ({ redis }) => redis.flushdb(),
    fails: ['I3'],
    says: /activity 42: not loaded into Redis/,
  },
  {
    name: 'another generation in Redis',
    plant: ({ redis }) => redis.set(`${activity.keys}:gen`, 2),
    fails: ['I3'],
    says: /generation 2 in Redis, 3 in MySQL/,
  },
  {
    name: 'an activity that was loaded into another Redis server',
    plant: ({ sql }) => sql.query("UPDATE activity SET stock_run_id = 'another'"),
    fails: ['I3'],
    says: /activity 42: run id \w{40} in Redis, another in MySQL/,
  },
  {
    name: 'an activity whose first load was never noted',
    plant: ({ sql }) => sql.query('UPDATE activity SET stock_run_id = NULL'),
    fails: ['I3'],
    says: /activity 42: run id \w{40} in Redis, null in MySQL/,
  },
  {
    name: 'a finding that nobody healed',
    plant: ({ sql }) =>
      sql.query(
        `INSERT INTO audit_finding (id, at, activity_id, kind, action, detail)
         VALUES (?, NOW(3), 42, 'stock', 'none', '{}')`,
        [Buffer.alloc(16, 1)],
      ),
    fails: ['I3'],
    says: /1 × finding of the auditor that is not healed/,
  },
  {
    name: 'a change of capacity that Redis did not follow',
    plant: ({ sql }) =>
      sql.query('UPDATE activity SET capacity = 12, available = 9, capacity_version = 2 WHERE id = 42'),
    fails: ['I3'],
    says: /activity 42: capacity 1:10 in Redis, 2:12 in MySQL/,
  },
  {
    name: 'a change of capacity that Redis followed in name alone',
    plant: async ({ sql, redis }) => {
      await sql.query('UPDATE activity SET capacity = 12, available = 9, capacity_version = 2 WHERE id = 42');
      await redis.set(`${activity.keys}:capacity`, '2:12');
    },
    fails: ['I2', 'I3'],
    says: /free 7 \+ held 2 \+ sold 1 is not 12/,
    always: true,
  },
];
