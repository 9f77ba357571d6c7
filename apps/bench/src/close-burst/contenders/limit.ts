import { Redis } from 'ioredis';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { type BareOrder, bareLoop, ordersPerBatch } from '../../burst/bare-loop.ts';
import type { Sale } from '../../sale.ts';
import type { CloseContender } from '../contender.ts';

/** In one script call: Lua's unpack fails near 8,000. */
const ordersPerScript = 1_000;

const releaseLua = `
local known = redis.call('HMGET', KEYS[3], unpack(ARGV))
local users, marks = {}, {}
for i, order in ipairs(ARGV) do
  local user = known[i] and string.match(known[i], '^h:%d+:%d+:(.*)$')
  if user then
    users[#users + 1] = user
    marks[#marks + 1] = order
    marks[#marks + 1] = 'r:1:0:0'
  end
end
if #users > 0 then
  redis.call('HSET', KEYS[3], unpack(marks))
  redis.call('INCRBY', KEYS[1], #users)
  redis.call('SREM', KEYS[2], unpack(users))
end
return #users`;

/** What these stores can do on this machine: nothing wakes it but a timer, and it knows all orders beforehand. */
export const limit: CloseContender = {
  name: 'limit',
  about: `bare loop: transactions of ${ordersPerBatch} orders with a ledger row each, one Lua call per ${ordersPerScript}; no broker`,
  judgedBy: 'counts',
  ordersMax: Number.POSITIVE_INFINITY,
  queue: null,
  armMs: () => 0,
  work,
};

async function work(sale: Sale, ready: () => void): Promise<void> {
  const redis = new Redis(sale.redisUrl);
  let released: Promise<unknown> = Promise.resolve();
  await bareLoop(sale, 'expires_at', ready, async (mysql, orders) => {
    const closed = await closeBatch(mysql, orders);
    // Beside the next transaction.
    released = Promise.all([released, release(redis, closed)]);
  });
  await released;
}

/** @returns the orders closed, by activity. */
async function closeBatch(mysql: Connection, wanted: readonly BareOrder[]): Promise<Map<number, string[]>> {
  await mysql.query('START TRANSACTION');
  const [due] = await mysql.query<RowDataPacket[]>(
    `SELECT id, activity_id FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = 'PENDING' AND expires_at <= NOW(3) ORDER BY id FOR UPDATE SKIP LOCKED`,
    [wanted.map(({ id }) => id)],
  );
  const ids = due.map(({ id }) => id as Buffer);
  await mysql.query(
    `UPDATE orders FORCE INDEX (PRIMARY) SET status = 'TIMEOUT_CLOSED', version = version + 1, closed_at = NOW(3)
     WHERE id IN (?) AND status = 'PENDING'`,
    [ids],
  );
  await mysql.query(
    `INSERT INTO order_transition (order_id, version, activity_id, from_status, to_status, cause, at, credit)
     SELECT id, version, activity_id, 'PENDING', status, 'message', closed_at, quantity
     FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)`,
    [ids],
  );
  const closed = new Map<number, string[]>();
  for (const { id, activity_id } of due) {
    const known = closed.get(activity_id);
    if (known) known.push(toUuid(id));
    else closed.set(activity_id, [toUuid(id)]);
  }
  for (const [activityId, orders] of closed) {
    await mysql.query('UPDATE activity SET available = available + ? WHERE id = ?', [
      orders.length,
      activityId,
    ]);
  }
  await mysql.query('COMMIT');
  return closed;
}

async function release(redis: Redis, closed: ReadonlyMap<number, readonly string[]>): Promise<void> {
  for (const [activityId, ids] of closed) {
    const keys = ['stock', 'users', 'holds'].map((key) => `activity:{${activityId}}:${key}`);
    for (let at = 0; at < ids.length; at += ordersPerScript) {
      await redis.eval(releaseLua, keys.length, ...keys, ...ids.slice(at, at + ordersPerScript));
    }
  }
}

function toUuid(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
