import type { Redis } from 'ioredis';
import { compareOrders } from './compare-orders.ts';
import { findUnseenBuyers } from './find-unseen-buyers.ts';
import type { MysqlSnapshot } from './mysql-snapshot.ts';
import { type RedisSums, readRedisSums, redisKeys } from './redis-sums.ts';
import type { ActivityFilter } from './rule.ts';
import type { Finding } from './verdict.ts';

/** An activity as MySQL has it; sums over its orders. */
interface ActivityTruth {
  readonly id: number;
  readonly capacity: number;
  readonly capacityVersion: number;
  readonly available: number;
  readonly generation: number;
  readonly runId: string | null;
  readonly pending: number;
  readonly paid: number;
}

/** I2 and I10 at any time; at rest also I3 and the part of I5 that lies in Redis. */
export async function checkRedis(
  mysql: MysqlSnapshot,
  redis: Redis,
  only: ActivityFilter,
  atRest: boolean,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const activities = await readActivities(mysql, only);
  const suspects = new Set<number>();
  const loaded: number[] = [];
  const runId = await readRunId(redis);
  for (const truth of activities) {
    const sums = await readRedisSums(redis, truth.id);
    // Not loaded is lawful while running: sales refuse until MySQL's truth is loaded.
    if (sums.generation !== null) findings.push(...checkSums(truth, sums));
    if (sums.generation === String(truth.generation) && truth.runId === runId) loaded.push(truth.id);
    if (!atRest) continue;
    const differing = compareSums(truth, sums, runId);
    findings.push(...differing);
    if (differing.length > 0) suspects.add(truth.id);
  }
  findings.push(
    ...(await findUnseenBuyers(mysql, redis, loaded, async () => (await readRunId(redis)) === runId)),
  );
  if (atRest) findings.push(...(await compareOrders(mysql, redis, only, suspects)));
  if (atRest) findings.push(...(await findUnforgotten(mysql, redis, only)));
  return findings;
}

/** Which server it is, in its own words: a restart is another one. */
async function readRunId(redis: Redis): Promise<string> {
  return /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
}

async function readActivities(mysql: MysqlSnapshot, only: ActivityFilter): Promise<ActivityTruth[]> {
  return await mysql.rows<ActivityTruth>(`
    SELECT a.id, a.capacity, a.capacity_version AS capacityVersion, a.available, a.generation,
      a.stock_run_id AS runId,
      COALESCE(SUM(o.status = 'PENDING'), 0) AS pending, COALESCE(SUM(o.status = 'PAID'), 0) AS paid
    FROM activity a LEFT JOIN orders o ON o.activity_id = a.id AND o.status IN ('PENDING', 'PAID')
    WHERE a.archived_at IS NULL AND ${only('a.id')}
    GROUP BY a.id, a.capacity, a.capacity_version, a.available, a.generation, a.stock_run_id ORDER BY a.id`);
}

/** I3 of archived activities: Redis knows nothing of them. */
async function findUnforgotten(mysql: MysqlSnapshot, redis: Redis, only: ActivityFilter): Promise<Finding[]> {
  const archived = await mysql.rows<{ id: number; runId: string | null }>(
    `SELECT a.id, a.stock_run_id AS runId FROM activity a WHERE a.archived_at IS NOT NULL AND ${only('a.id')}`,
  );
  const findings: Finding[] = [];
  for (const { id, runId } of archived) {
    const keys = await redis.exists(...Object.values(redisKeys(id)));
    if (keys === 0 && runId === null) continue;
    const what = keys > 0 ? `${keys} keys of it are in Redis` : 'it is not noted that Redis has forgotten it';
    findings.push({ id: 'I3', says: `activity ${id} is archived, and ${what}`, total: 1, orderIds: [] });
  }
  return findings;
}

/** I2, of one instant in Redis, by the capacity that Redis has followed so far. */
function checkSums({ id, capacity: inMysql }: ActivityTruth, sums: RedisSums): Finding[] {
  const capacity = sums.capacity === null ? inMysql : Number(sums.capacity.split(':')[1]);
  const { stock, heldUnits, soldUnits, unreadable } = sums;
  const wrongs: string[] = [];
  if (Number.isNaN(stock)) wrongs.push('the counter is absent or no number');
  else if (stock < 0) wrongs.push(`the counter is ${stock}`);
  if (unreadable > 0) wrongs.push(`${unreadable} holds cannot be read`);
  if (stock + heldUnits + soldUnits !== capacity) {
    wrongs.push(`free ${stock} + held ${heldUnits} + sold ${soldUnits} is not ${capacity}`);
  }
  return wrongs.map((wrong) => ({
    id: 'I2',
    says: `activity ${id} in Redis: ${wrong}`,
    total: 1,
    orderIds: [],
  }));
}

/** I3 in numbers, and that Redis may sell: enough to know that the two differ; compareOrders says where. */
function compareSums(truth: ActivityTruth, sums: RedisSums, runId: string): Finding[] {
  const finding = (wrong: string): Finding => ({
    id: 'I3',
    says: `activity ${truth.id}: ${wrong}`,
    total: 1,
    orderIds: [],
  });
  if (sums.generation === null) return [finding('not loaded into Redis')];
  const capacity = `${truth.capacityVersion}:${truth.capacity}`;
  const pairs = [
    ['generation', Number(sums.generation), truth.generation],
    // A server of another run id refuses all sales until it is loaded.
    ['run id', runId, truth.runId],
    // Loaded before changes were followed, and not changed since.
    ['capacity', sums.capacity ?? `1:${truth.capacity}`, capacity],
    ['free units', sums.stock, truth.available],
    ['held orders', sums.heldOrders, truth.pending],
    ['sold orders', sums.soldOrders, truth.paid],
    ['users', sums.users, truth.pending + truth.paid],
  ] as const;
  return pairs
    .filter(([, inRedis, inMysql]) => inRedis !== inMysql)
    .map(([what, inRedis, inMysql]) => finding(`${what} ${inRedis} in Redis, ${inMysql} in MySQL`));
}
