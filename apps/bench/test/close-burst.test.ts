import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestRedis, type TestRedis, testRocketmq, testVariable } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeContenders } from '../src/close-burst/close-contenders.ts';
import type { CloseContender } from '../src/close-burst/contender.ts';
import { runClose } from '../src/close-burst/run-close.ts';
import type { Figures, Outcome } from '../src/result.ts';
import { type BenchServices, readServices } from '../src/services.ts';

const orders = 500;
/** A busy machine needs several tries to be ready by the deadline. */
const timeout = 120_000;
const fixture = fileURLToPath(new URL('fixtures/close-all.mjs', import.meta.url));

let redis: TestRedis;
let services: BenchServices;

beforeAll(async () => {
  redis = await createTestRedis();
  const { endpoints, namesrv } = testRocketmq();
  services = await readServices({
    LAPSE_MYSQL_URL: testVariable('LAPSE_TEST_MYSQL_URL'),
    LAPSE_REDIS_URL: redis.url,
    LAPSE_ROCKETMQ_ENDPOINTS: endpoints,
    LAPSE_ROCKETMQ_NAMESRV: namesrv,
    LAPSE_BENCH_DIR: mkdtempSync(join(tmpdir(), 'lapse-bench-')),
  });
});
afterAll(async () => {
  await redis.close();
  rmSync(services.dir, { recursive: true });
});

function run(contender: CloseContender, stallMs = 15_000): Promise<Outcome> {
  const dir = join(services.dir, contender.name);
  return runClose(contender, { services, dir, size: orders, signal: new AbortController().signal, stallMs });
}

function contenderOf(name: string): CloseContender {
  const found = closeContenders.find((contender) => contender.name === name);
  if (found === undefined) throw new Error(`no contender ${name}`);
  return found;
}

function figuresOf(outcome: Outcome): Figures {
  if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
  return outcome.figures;
}

describe('close-burst of 500 orders', { timeout }, () => {
  test('the bare limit is measured: rate, lateness, CPU by process, statements', async () => {
    const figures = figuresOf(await run(contenderOf('limit')));
    expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    expect(figures.perSecond).toBeCloseTo(orders / figures.seconds);
    expect(figures.sql.Com_commit).toBeGreaterThanOrEqual(1);
    expect(figures.redis.eval).toBeGreaterThanOrEqual(1);
    if (process.platform === 'linux') {
      expect(Object.keys(figures.cpuUsPerOrder).sort()).toEqual(['mysql', 'redis', 'worker']);
      expect(figures.rssPeakBytes.worker).toBeGreaterThan(20_000_000);
    }
  });

  test('the real closer closes them by messages of the real broker, and the oracle agrees', async () => {
    const figures = figuresOf(await run(contenderOf('lapse')));
    expect(figures).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
    if (process.platform === 'linux') expect(figures.cpuUsPerOrder).toHaveProperty('broker');
  });

  /** The negative controls: the same work with one place given back too few, and one too many. */
  test.each([
    { leaveOut: 1, found: orders - 1 },
    { leaveOut: -1, found: orders + 1 },
  ])('a contender that leaves out $leaveOut places has no figure', async ({ leaveOut, found }) => {
    const outcome = await run(closerLeavingOut(leaveOut), 500);
    expect(outcome).toEqual({
      kind: 'no-figure',
      reasons: [`places free in Redis: ${found} instead of ${orders}`, expect.stringContaining('last words')],
    });
  });

  test('the same contender without that fault has one', async () => {
    expect(figuresOf(await run(closerLeavingOut(0)))).toMatchObject({ orders, early: 0 });
  });
});

function closerLeavingOut(places: number): CloseContender {
  return {
    name: `leaves-out-${places}`,
    about: '',
    judgedBy: 'counts',
    ordersMax: orders,
    needsBroker: false,
    armMs: () => 0,
    programs: (sale) => [
      {
        name: 'worker',
        file: fixture,
        env: { LAPSE_BENCH_SALE: JSON.stringify(sale), LEAVE_OUT: String(places) },
        readyText: 'ready',
      },
    ],
  };
}
