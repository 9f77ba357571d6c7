import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPortHolder, startMariadb, startRedis } from '@lapse/local-services';
import { checkInvariants, describeVerdict } from '@lapse/testing';
import { markdownTable } from 'markdown-table';
import { withLapseStores } from '../lapse-stores.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { median } from '../statistics.ts';
import { type Cpu, readCpuOf } from './cpu.ts';
import { fillYear } from './fill-year.ts';
import { measureClose } from './measure-close.ts';
import { readSizes, type TableSize } from './read-sizes.ts';
import { forgetArchive, retainYear } from './retain-year.ts';

/**
 * `npm run bench:year [ORDERS]`: what a year of sales leaves in MySQL, and what closing costs beside it; and both once
 * more as they are where orders and sales are kept for 90 days, and for 180 more in the archive. On a MariaDB of its own. What infra/decisions/0018 is
 * made of: CPU an order, since rates are those of the machine's neighbours.
 */
const ordersDefault = 500_000;
const keptDays = 90;
const archiveDays = 180;
const closedPerRound = 20_000;
const rounds = 3;

const orders = Number(process.argv[2] ?? ordersDefault);
if (!Number.isSafeInteger(orders) || orders < 10_000) {
  process.stderr.write('LAPSE_BENCH_ARGUMENT: the number of orders is a whole number of at least 10000\n');
  process.exit(2);
}
const dir = mkdtempSync(join(tmpdir(), 'lapse-year-'));
const log = () => undefined;
const [mariadb, redis] = await Promise.all([
  startMariadb({ dir: join(dir, 'mysql'), database: 'year', args: ['--innodb-buffer-pool-size=1G'], log }),
  startRedis({ dir: join(dir, 'redis'), log }),
]);
try {
  const pid = await findPortHolder(mariadb.ports.mysql ?? 0);
  if (pid === undefined) throw new Error('the process of MariaDB is not found');
  const stores = await openStores({ mysqlUrl: mariadb.url, redisUrl: redis.url });
  try {
    await play(stores, readCpuOf(pid));
  } finally {
    await stores.close();
  }
} finally {
  await Promise.all([mariadb.stop(), redis.stop()]);
  rmSync(dir, { recursive: true, force: true });
}

async function play(stores: RunStores, cpu: Cpu): Promise<void> {
  const empty = await closeCost(stores, cpu);
  say(`filling the year with ${orders} orders …`);
  const year = await fillYear(stores.mysql, orders, say);
  say(`${year.orders} orders of ${year.sales} sales`);
  const keptSizes = await readSizes(stores.mysql);
  const kept = await closeCost(stores, cpu);
  say(`archiving what is older than ${keptDays} days …`);
  const before = cpu();
  const startedAt = performance.now();
  const archived = await withLapseStores(stores, ({ repository }) => retainYear(repository, keptDays));
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = cpu();
  const perOrder = (from: number, to: number): string => ((to - from) / archived.orders).toFixed(0);
  say(
    `archived ${archived.orders} orders in ${seconds.toFixed(0)} s; CPU us an order: mysql ${perOrder(before.mysqlUs, after.mysqlUs)}, ` +
      `process ${perOrder(before.nodeUs, after.nodeUs)}`,
  );
  const retainedSizes = await readSizes(stores.mysql);
  const retained = await closeCost(stores, cpu);
  await withLapseStores(stores, ({ repository }) =>
    forgetArchive({ repository, mysql: stores.mysql }, { keptDays, archiveDays }),
  );
  say(`\n${sizeTable([keptSizes, retainedSizes, await readSizes(stores.mysql)])}\n`);
  const costs = [
    ['nothing', empty],
    ['the year', kept],
    [`${keptDays} days, the rest archived`, retained],
  ] as const;
  say(
    markdownTable([
      ['beside', 'close: CPU us an order', 'of it MySQL', 'process'],
      ...costs.map(([beside, cost]) => [
        ...[beside, (cost.mysqlUs + cost.nodeUs).toFixed(0), cost.mysqlUs.toFixed(0)],
        cost.nodeUs.toFixed(0),
      ]),
    ]),
  );
  const { mysqlUrl, redisUrl } = stores;
  const verdict = await checkInvariants({ mysqlUrl, redisUrl, atRest: false });
  say(verdict.ok ? '\nthe oracle finds nothing wrong' : `\n${describeVerdict(verdict)}`);
  if (!verdict.ok) process.exitCode = 1;
}

/** The median of its rounds, each with a sale of its own. */
async function closeCost(stores: RunStores, cpu: Cpu) {
  const costs: Awaited<ReturnType<typeof measureClose>>[] = [];
  for (let round = 0; round < rounds; round += 1) costs.push(await measureClose(stores, closedPerRound, cpu));
  return {
    mysqlUs: median(costs.map(({ mysqlUs }) => mysqlUs)),
    nodeUs: median(costs.map(({ nodeUs }) => nodeUs)),
  };
}

function sizeTable(columns: readonly (readonly TableSize[])[]): string {
  const heads = ['all kept', `${keptDays} days kept`, `and ${archiveDays} in the archive`];
  const cells = (of: (sizes: readonly TableSize[]) => string): string[] => columns.map(of);
  const rowOf = (name: string): string[] =>
    cells((sizes) => {
      const size = sizes.find((each) => each.name === name);
      return size ? `${size.mb.toFixed(0)} (${size.rows})` : '';
    });
  const names = columns[0]?.map(({ name }) => name) ?? [];
  const total = cells((sizes) => sizes.reduce((sum, { mb }) => sum + mb, 0).toFixed(0));
  return markdownTable([
    ['MB (rows)', ...heads],
    ...names.map((name) => [name, ...rowOf(name)]),
    ['all', ...total],
  ]);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
