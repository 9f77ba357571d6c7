import { Redis } from 'ioredis';
import { archiveRules } from './archive-rules.ts';
import { type BrokerAddress, findUnreadMessages } from './broker-messages.ts';
import { checkRedis } from './check-redis.ts';
import { withMysqlSnapshot } from './mysql-snapshot.ts';
import { noticeRules } from './notice-rules.ts';
import { orderRules } from './order-rules.ts';
import { paymentRules } from './payment-rules.ts';
import { readCounts, readLateness, readParked } from './read-counts.ts';
import { findUnfinished, restRules, unhealedFindings } from './rest-rules.ts';
import { type ActivityFilter, applyRules } from './rule.ts';
import { type InvariantId, judge, type Verdict } from './verdict.ts';

export interface OracleOptions {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  /**
   * Nothing runs any more and nothing is due: then the stores must agree and nothing may be left to do.
   * Without it only what holds at every instant is checked: I1, I2, I4 to I7, I9 and I10.
   */
  readonly atRest: boolean;
  /** Only these activities; all by default. Outbox and effects are always checked as a whole. */
  readonly activityIds?: readonly number[];
  /** How long past its deadline an order may be pending at rest, and past its reminder unreminded, in ms. */
  readonly overdueMs?: number;
  /** How long a notice, or an event for the shop, may wait at rest, in ms. */
  readonly noticeWaitMs?: number;
  /** At rest every refund must have been made: a provider is configured. Not so by default. */
  readonly refundsArePaid?: boolean;
  /** At rest the shop's own systems were told of each step of each order. Not so by default. */
  readonly shopWantsEvents?: boolean;
  /** Where given, no message may be unread at rest, dead letters among them. */
  readonly broker?: BrokerAddress;
}

/** I8: within 30 s with the broker dead. */
const overdueMsDefault = 30_000;
const noticeWaitMsDefault = 60_000;

/**
 * Judge whether the system keeps its promises, from MySQL, Redis and, at rest, the broker, with SQL, scripts and a
 * protocol of its own: it shares no code with what it judges. Tests, demo, chaos, bench and command line use this one.
 *
 * It may run while the system runs: MySQL is read in one consistent snapshot, and each activity in Redis by one
 * script. Memory is bounded whatever the number of orders: sums are made in the stores, and orders are compared
 * by the thousand. It reads only.
 */
export async function checkInvariants(options: OracleOptions): Promise<Verdict> {
  const { mysqlUrl, redisUrl, atRest } = options;
  const only = filterActivities(options.activityIds);
  const limits = {
    overdueMs: wholeMs(options.overdueMs ?? overdueMsDefault),
    noticeWaitMs: wholeMs(options.noticeWaitMs ?? noticeWaitMsDefault),
    refundsArePaid: options.refundsArePaid ?? false,
    shopWantsEvents: options.shopWantsEvents ?? false,
  };
  return await withRedis(redisUrl, (redis) =>
    withMysqlSnapshot(mysqlUrl, async (mysql) => {
      const always = [...orderRules, ...archiveRules, ...paymentRules, ...noticeRules];
      const rules = atRest ? [...always, ...restRules(limits), unhealedFindings] : always;
      const findings = await applyRules(rules, mysql, only);
      findings.push(...(await checkRedis(mysql, redis, only, atRest)));
      if (atRest) findings.push(...(await findUnfinished(mysql)));
      if (atRest && options.broker) findings.push(...(await findUnreadMessages(options.broker)));
      const lateness = await readLateness(mysql, only);
      const counts = await readCounts(mysql, only);
      const checks = judge(findings, atRest ? new Map() : restOnly);
      const failed = checks.filter(({ ok }) => !ok);
      const parked = await readParked(mysql, only);
      return { ok: failed.length === 0, checks, failed, lateness, counts, parked };
    }),
  );
}

const restOnly: ReadonlyMap<InvariantId, string> = new Map(
  (['I3', 'I8', 'I11'] as const).map((id) => [id, 'the system is not at rest']),
);

/** Numbers only, checked here, because they become part of the SQL. */
function filterActivities(activityIds: readonly number[] | undefined): ActivityFilter {
  if (activityIds === undefined) return () => 'TRUE';
  for (const id of activityIds) {
    if (!Number.isSafeInteger(id)) throw new RangeError(`An activity is a whole number, not ${id}.`);
  }
  const list = activityIds.length === 0 ? 'NULL' : activityIds.join(', ');
  return (column) => `${column} IN (${list})`;
}

function wholeMs(ms: number): number {
  if (!Number.isSafeInteger(ms) || ms < 0)
    throw new RangeError(`A limit is a whole number of ms, not ${ms}.`);
  return ms;
}

async function withRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  // Failures reach the caller through the command; without a listener they would also be printed.
  redis.on('error', () => undefined);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
