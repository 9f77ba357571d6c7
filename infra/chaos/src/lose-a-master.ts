import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, reapLeftovers } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { type CommandTools, rootDir } from '@lapse/stack';
import { checkInvariants, queryDatabase, type Verdict } from '@lapse/testing';
import { buyEvenly } from './buy-evenly.ts';
import { type ClusterShop, openClusterShop } from './cluster-shop.ts';
import { worstLateness } from './worst-lateness.ts';

const dir = join(rootDir, '.lapse-cluster');
const load = { ordersPerSecond: 20, forMs: 70_000 } as const;
/** In the middle of the load, with orders of 20 s on their way through both masters. */
const killAtMs = 30_000;
/** Once the master is back: these must close by message again. */
const loadAfter = { ordersPerSecond: 20, forMs: 5_000 } as const;
const latenessMsMax = 20_000;
const restWithinMs = 90_000;
const lookEveryMs = 1_000;

/**
 * RocketMQ as a cluster: two masters, one with a slave, name server, and a proxy of its own. Under load the master with
 * the slave is killed, and started again when the load is over. No order may be lost or close early, and none may be
 * later than `latenessMsMax`.
 * @returns whether it was so; everything measured is printed.
 */
export async function loseAMaster(options: CommandTools): Promise<boolean> {
  const { print, signal } = options;
  // Every buyer that waits listens.
  setMaxListeners(0, signal);
  const lock = lockFolder(dir);
  await reapLeftovers(dir, { log: print.warn });
  for (const name of ['mysql', 'redis', 'rocketmq', 'logs']) {
    rmSync(join(dir, name), { recursive: true, force: true });
  }
  const shop = await openClusterShop({ ...options, dir });
  try {
    return await play(shop, options);
  } finally {
    await print.step('stopping', 'stopped', shop.close);
    lock.release();
  }
}

async function play(shop: ClusterShop, { print, signal }: CommandTools): Promise<boolean> {
  const killer = sleep(killAtMs, signal).then(() => {
    shop.rocketmq.kill('SIGKILL', 'broker-b');
    print.line(`  broker-b, a master with a slave, killed after ${killAtMs / 1_000} s of load`);
  });
  const buying = print.step('load', 'load over', () => buyEvenly(shop.buy, load, signal));
  const [bought] = await Promise.all([buying, killer]);
  const verdict = await print.step('coming to rest', 'at rest', () => awaitRest(shop, signal));
  const causes = await readCauses(shop.mysqlUrl);
  for (const { cause, count, p50, p99, max } of causes) {
    print.line(`  closed by ${cause}: ${count}; lateness p50/p99/max ${p50}/${p99}/${max} ms`);
  }
  print.line(`  answers of the API: ${shop.answers()}`);

  await print.step('the master comes back', 'the master is back', () => shop.rocketmq.start());
  const after = await buyEvenly(shop.buy, loadAfter, signal);
  const last = await print.step('coming to rest', 'at rest', () => awaitRest(shop, signal));
  const byMessage = countBy(await readCauses(shop.mysqlUrl), 'message') - countBy(causes, 'message');
  print.line(`  after its return: ${byMessage} of ${after} closed by message`);

  const { max, early } = worstLateness([verdict, last]);
  const lost = bought - causes.reduce((sum, { count }) => sum + count, 0);
  const held = last.checks.filter(({ ok }) => ok).length;
  print.line(
    `cluster: orders=${bought} lost=${lost} early=${early} latest=${max} ms ` +
      `(limit ${latenessMsMax}) invariants=${held}/${last.checks.length}`,
  );
  for (const { id, detail } of [...verdict.failed, ...last.failed]) print.line(`  ${id}: ${detail}`);
  return verdict.ok && last.ok && lost === 0 && early === 0 && max <= latenessMsMax && byMessage === after;
}

/** Until no order is pending and nothing is left to do; the last verdict counts. */
async function awaitRest({ mysqlUrl, redisUrl }: ClusterShop, signal: AbortSignal): Promise<Verdict> {
  const endsAt = performance.now() + restWithinMs;
  for (;;) {
    const options = { mysqlUrl, redisUrl, atRest: true, overdueMs: 0, noticeWaitMs: 0 };
    const verdict = await checkInvariants(options);
    if (signal.aborted || performance.now() >= endsAt) return verdict;
    if (verdict.ok && verdict.counts.orders.PENDING === 0) return verdict;
    await sleep(lookEveryMs, signal);
  }
}

interface Cause {
  readonly cause: string;
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Who closed how many, and how late. */
async function readCauses(mysqlUrl: string): Promise<Cause[]> {
  const rows = await queryDatabase(
    mysqlUrl,
    `SELECT t.cause, TIMESTAMPDIFF(MICROSECOND, o.expires_at, o.closed_at) DIV 1000 AS late
     FROM order_transition t JOIN orders o ON o.id = t.order_id WHERE t.credit > 0 ORDER BY t.cause, late`,
  );
  const causes = [...new Set(rows.map(({ cause }) => String(cause)))];
  return causes.map((cause) => {
    const late = rows.filter((row) => row.cause === cause).map((row) => Number(row.late));
    const at = (share: number): number => late[Math.floor(late.length * share)] ?? 0;
    return { cause, count: late.length, p50: at(0.5), p99: at(0.99), max: late.at(-1) ?? 0 };
  });
}

function countBy(causes: readonly Cause[], wanted: string): number {
  return causes.find(({ cause }) => cause === wanted)?.count ?? 0;
}
