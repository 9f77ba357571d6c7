import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePort } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { checkInvariants } from '@lapse/testing';
import { awaitDone } from '../burst/await-done.ts';
import { readLateness } from '../burst/read-lateness.ts';
import { awaitLoad } from '../create/await-load.ts';
import { loadProgram } from '../create/load.ts';
import { lapseEnvironment } from '../lapse-environment.ts';
import { openMeter } from '../meter.ts';
import { openStores, type RunStores } from '../open-stores.ts';
import { prepareTopics } from '../prepare-topics.ts';
import { readPlacesFree } from '../read-places-free.ts';
import type { Outcome } from '../result.ts';
import { describeSale, prepareSale, type Sale } from '../sale.ts';
import type { RunOptions } from '../scenario.ts';
import { type Program, type RunningPrograms, startPrograms } from '../start-programs.ts';
import { counted, readStoreCounters } from '../store-counters.ts';
import { usageFigures } from '../usage-figures.ts';

export const ordersPerSecond = 200;
export const payWithinMs = 20_000;
const times = { payWithinMs, remindAfterMs: 10_000 } as const;
const connections = 64;
const apps = ['producer', 'reminder', 'closer', 'sweeper'] as const;
/** From the last order to the first deadline nothing moves, in a run shorter than the pay window. */
const stallMs = 2 * payWithinMs;
const restMs = 30_000;
const lookEveryMs = 500;

/** The whole of Lapse, as it is deployed, under a fixed rate: orders come in while others are reminded and close. */
export async function runSteady(options: RunOptions): Promise<Outcome> {
  const stores = await openStores(options.services);
  const started: RunningPrograms[] = [];
  try {
    return await measure(stores, started, options);
  } catch (error) {
    return { kind: 'no-figure', reasons: [(error as Error).message] };
  } finally {
    await Promise.all(started.map((programs) => programs.kill()));
    await stores.close();
  }
}

async function measure(
  stores: RunStores,
  started: RunningPrograms[],
  { services, dir, size: orders, signal }: RunOptions,
): Promise<Outcome> {
  const sale = describeSale(stores, services, await prepareSale(stores, { places: orders, sold: 0, times }));
  await prepareTopics(sale);
  const port = await freePort();
  const jwtSecret = randomBytes(32).toString('base64url');
  const lapse = await startPrograms(
    apps.map((name) => appProgram(name, sale, port, jwtSecret)),
    dir,
  );
  started.push(lapse);
  const path = `/v1/activities/${sale.activityId}/orders`;
  const load = await startPrograms(
    [
      loadProgram({
        origins: [`http://127.0.0.1:${port}`],
        path,
        connections,
        warmUp: 0,
        requests: orders,
        perSecond: ordersPerSecond,
        jwtSecret,
      }),
    ],
    dir,
  );
  started.push(load);

  const meter = openMeter({ ...lapse.pids, ...services.pids });
  const before = await readStoreCounters(stores);
  load.signal('SIGUSR2');
  const died = Promise.race([lapse.died, load.died]);
  const { seconds, statuses, responseMs } = await Promise.race([awaitLoad(load, signal), died]);
  const dueAtMs = Date.now();
  const end = await Promise.race([
    awaitDone(() => readPlacesFree(stores, sale.activities), { orders, dueAtMs }, stallMs, signal),
    died,
  ]);
  const usage = meter.read();
  const after = await readStoreCounters(stores);

  if (statuses['201'] !== orders) {
    return {
      kind: 'no-figure',
      reasons: [`answers ${JSON.stringify(statuses)} instead of ${orders} orders`],
    };
  }
  const faults = end.isWhole
    ? await judge(stores, orders)
    : [`places free again ${JSON.stringify(end.done)} of ${orders}`];
  if (faults.length > 0) return { kind: 'no-figure', reasons: faults };
  const { early, ...latenessMs } = await readLateness(stores.mysql, sale.activities);
  const figures = {
    orders,
    seconds,
    perSecond: orders / seconds,
    ...usageFigures(usage, orders),
    armCpuUsPerOrder: {},
    sql: counted(before.sql, after.sql),
    redis: counted(before.redis, after.redis),
    latenessMs,
    early,
    responseMs,
  };
  return { kind: 'measured', figures };
}

/** All eleven invariants: every process runs, so notices and effects must be done as well. */
async function judge({ mysqlUrl, redisUrl }: RunStores, orders: number): Promise<string[]> {
  const giveUpAt = performance.now() + restMs;
  for (;;) {
    const { failed, counts } = await checkInvariants({ mysqlUrl, redisUrl, atRest: true });
    const closed = counts.orders.TIMEOUT_CLOSED;
    const faults = [
      ...failed.map(({ id, detail }) => `${id}: ${detail}`),
      ...(closed === orders ? [] : [`orders closed: ${closed} instead of ${orders}`]),
    ];
    if (faults.length === 0 || performance.now() >= giveUpAt) return faults;
    await sleep(lookEveryMs);
  }
}

function appProgram(name: (typeof apps)[number], sale: Sale, port: number, jwtSecret: string): Program {
  return {
    name,
    file: fileURLToPath(new URL(`../../../${name}/dist/main.js`, import.meta.url)),
    env: {
      ...lapseEnvironment(sale),
      LAPSE_OPS_PORT: '0',
      ...(name === 'producer' && {
        LAPSE_HTTP_PORT: String(port),
        LAPSE_JWT_SECRET: jwtSecret,
        LAPSE_PAYMENT_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
      }),
    },
    readyText: '"started"',
  };
}
