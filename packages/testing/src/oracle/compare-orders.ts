import type { Redis } from 'ioredis';
import { idToBytes, idToText, type MysqlSnapshot } from './mysql-snapshot.ts';
import { redisKeys } from './redis-sums.ts';
import type { ActivityFilter } from './rule.ts';
import { type Finding, type InvariantId, orderIdsMax } from './verdict.ts';

/** Orders compared in one step: bounds memory, and the time Redis gives to one command. */
const pageMax = 1_000;

interface ActiveOrder {
  readonly id: Buffer;
  readonly activity_id: number;
  readonly user_id: Buffer;
  readonly quantity: number;
  readonly status: string;
}

/**
 * I3 order by order: every active order of MySQL has its hold and its user in Redis; and where the numbers or an
 * order differ, every hold in Redis has its order in MySQL. A hold of a closed order also breaks I5.
 */
export async function compareOrders(
  mysql: MysqlSnapshot,
  redis: Redis,
  only: ActivityFilter,
  suspects: Set<number>,
): Promise<Finding[]> {
  const found = new Map<string, { id: InvariantId; total: number; orderIds: string[] }>();
  const report = (id: InvariantId, says: string, orderId: string): void => {
    const key = `${id} ${says}`;
    const entry = found.get(key) ?? { id, total: 0, orderIds: [] };
    entry.total += 1;
    if (entry.orderIds.length < orderIdsMax) entry.orderIds.push(orderId);
    found.set(key, entry);
  };
  for await (const page of activeOrders(mysql, only)) {
    for (const [activityId, orders] of groupByActivity(page)) {
      const missing = await compareActive(redis, activityId, orders);
      for (const { orderId, says } of missing) report('I3', says, orderId);
      if (missing.length > 0) suspects.add(activityId);
    }
  }
  for (const activityId of suspects) {
    for await (const { orderId, status } of strayHolds(mysql, redis, activityId)) {
      report('I3', `active hold in Redis of an order that is ${status} in MySQL`, orderId);
      if (status === 'TIMEOUT_CLOSED' || status === 'CANCELLED' || status === 'ABORTED') {
        report('I5', 'closed order that did not give its stock back in Redis', orderId);
      }
    }
  }
  return [...found].map(([key, { id, total, orderIds }]) => ({
    id,
    says: key.slice(id.length + 1),
    total,
    orderIds,
  }));
}

/** All pending and paid orders but those of archived activities, in pages by primary key. */
async function* activeOrders(mysql: MysqlSnapshot, only: ActivityFilter): AsyncGenerator<ActiveOrder[]> {
  let after = Buffer.alloc(0);
  for (;;) {
    const page = await mysql.rows<ActiveOrder>(
      `SELECT o.id, o.activity_id, o.user_id, o.quantity, o.status FROM orders o
       LEFT JOIN activity a ON a.id = o.activity_id
       WHERE o.id > ? AND a.archived_at IS NULL AND o.status IN ('PENDING', 'PAID') AND ${only('o.activity_id')} ORDER BY o.id LIMIT ${pageMax}`,
      [after],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = Buffer.from(last.id);
  }
}

function groupByActivity(orders: readonly ActiveOrder[]): Map<number, ActiveOrder[]> {
  const groups = new Map<number, ActiveOrder[]>();
  for (const order of orders) {
    const group = groups.get(order.activity_id);
    if (group === undefined) groups.set(order.activity_id, [order]);
    else group.push(order);
  }
  return groups;
}

async function compareActive(
  redis: Redis,
  activityId: number,
  orders: readonly ActiveOrder[],
): Promise<{ orderId: string; says: string }[]> {
  const keys = redisKeys(activityId);
  const holds = await redis.hmgetBuffer(keys.holds, ...orders.map(({ id }) => idToText(id)));
  const members = await redis.smismember(keys.users, ...orders.map((order) => order.user_id));
  return orders.flatMap((order, i) => {
    const orderId = idToText(order.id);
    const state = order.status === 'PAID' ? 's' : 'h';
    const wrongs: string[] = [];
    const hold = holds[i];
    if (hold === null || hold === undefined) wrongs.push(`${order.status} in MySQL, without a hold in Redis`);
    else if (!holdIs(hold, state, order)) {
      wrongs.push(`${order.status} in MySQL, in Redis with another state, quantity or user`);
    }
    if (members[i] !== 1) wrongs.push('active order whose user is not among the users in Redis');
    return wrongs.map((says) => ({ orderId, says }));
  });
}

/** Compares "state:quantity:atMs:user" byte by byte: user ids may hold anything. */
function holdIs(hold: Buffer, state: string, order: ActiveOrder): boolean {
  const start = Buffer.from(`${state}:${order.quantity}:`);
  if (!hold.subarray(0, start.length).equals(start)) return false;
  const userAt = hold.indexOf(':', start.length) + 1;
  return userAt > 0 && hold.subarray(userAt).equals(order.user_id);
}

/** Holds in Redis, held or sold, whose order is not active in MySQL. */
async function* strayHolds(
  mysql: MysqlSnapshot,
  redis: Redis,
  activityId: number,
): AsyncGenerator<{ orderId: string; status: string }> {
  const { holds } = redisKeys(activityId);
  const stream = redis.hscanStream(holds, { count: pageMax });
  for await (const fields of stream as AsyncIterable<string[]>) {
    const active = fields.filter((_, i) => i % 2 === 0 && /^[hs]:/.test(fields[i + 1] ?? ''));
    for (let at = 0; at < active.length; at += pageMax) {
      const orderIds = active.slice(at, at + pageMax);
      const statuses = await readStatuses(mysql, orderIds);
      for (const orderId of orderIds) {
        const status = statuses.get(orderId) ?? 'unknown';
        if (status !== 'PENDING' && status !== 'PAID') yield { orderId, status };
      }
    }
  }
}

async function readStatuses(mysql: MysqlSnapshot, orderIds: readonly string[]): Promise<Map<string, string>> {
  const ids = orderIds.flatMap((orderId) => idToBytes(orderId) ?? []);
  if (ids.length === 0) return new Map();
  const rows = await mysql.rows<{ id: Buffer; status: string }>(
    'SELECT id, status FROM orders WHERE id IN (?)',
    [ids],
  );
  return new Map(rows.map(({ id, status }) => [idToText(id), status]));
}
