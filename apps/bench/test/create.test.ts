import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpContender } from '../src/create/http-contender.ts';
import { createContenders } from '../src/create/http-contenders.ts';
import { type CreateManner, runCreate } from '../src/create/run-create.ts';
import type { Outcome } from '../src/result.ts';
import { figuresOf, named, openTestBench, type TestBench } from './bench-services.ts';

const requests = 200;
const timeout = 120_000;
const fixture = fileURLToPath(new URL('fixtures/sell.mjs', import.meta.url));
const selling: CreateManner = { connections: 16, isSoldOut: false };

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

function run(contender: HttpContender, manner = selling): Promise<Outcome> {
  return runCreate(contender, manner, bench.options(`${contender.name}-${manner.isSoldOut}`, requests));
}

describe('200 orders over HTTP', { timeout }, () => {
  test('the real producer sells them, and the oracle agrees', async () => {
    const figures = figuresOf(await run(named(createContenders, 'lapse')));
    expect(figures).toMatchObject({ orders: requests, responseMs: { count: requests } });
    expect(figures.sql.Com_insert).toBeGreaterThanOrEqual(1);
  });

  test('the bare reserve refuses them when nothing is left', async () => {
    const figures = figuresOf(
      await run(named(createContenders, 'limit'), { connections: 16, isSoldOut: true }),
    );
    expect(figures.responseMs).toMatchObject({ count: requests });
  });

  /** The negative control, and the same server without its fault. */
  test.each([
    { loseFifth: '1', fault: 'places free in Redis: 1 instead of 0' },
    { loseFifth: '0', fault: null },
  ])(
    'a server that answers 201 and sells nothing has no figure ($loseFifth)',
    async ({ loseFifth, fault }) => {
      const outcome = await run(serverThatLoses(loseFifth));
      if (fault === null) return expect(outcome.kind).toBe('measured');
      expect(outcome).toMatchObject({
        kind: 'no-figure',
        reasons: [fault, expect.stringContaining('buyers')],
      });
    },
  );
});

function serverThatLoses(loseFifth: string): HttpContender {
  return {
    name: `loses-${loseFifth}`,
    about: '',
    judgedBy: 'redis',
    ordersMax: requests,
    needsBroker: false,
    program: (sale, { port }) => ({
      name: 'worker',
      file: fixture,
      env: { LAPSE_BENCH_SALE: JSON.stringify(sale), PORT: String(port), LOSE_FIFTH: loseFifth },
      readyText: 'ready',
    }),
  };
}
