import { migrate, type OrderViews, openOrderViews } from '@lapse/order-repository';
import { log, openShop, type Shop } from '@lapse/test-shop';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp } from '../src/app.ts';
import { createFanOut } from '../src/fan-out.ts';
import type { SaleState, SalesState } from '../src/live-states.ts';
import { createGuestMint } from '../src/mint-guest.ts';
import { createSessions } from '../src/sessions.ts';
import { createStreamLimits } from '../src/stream-limits.ts';
import { openBrowser, openVisitor } from './open-browser.ts';

/** 5,000 a minute: many times what the looks at MySQL, one each 100 ms at most, ever send. */
const updateEveryMs = 12;
const watchedMs = 10_000;
/** Sales on the page, each of which moves. */
const salesShown = 20;
/** Two thirds of the time between two, so that the page has the rest for a touch; 4.1 ms were measured. */
const updateMsMax = (updateEveryMs * 2) / 3;
const secret = 'a secret of the tests, of forty characters';

const fanOut = createFanOut({ onDropped: () => undefined });
let shop: Shop;
let views: OrderViews;
let app: FastifyInstance;
let browser: Browser;
let url: string;
beforeAll(async () => {
  shop = await openShop();
  await migrate({ url: shop.databaseUrl }, log);
  views = await openOrderViews({ url: shop.databaseUrl, poolMax: 2, queryTimeoutMs: 10_000 }, log);
  app = await buildApp({
    views,
    fanOut,
    sessions: createSessions(secret),
    call: async () => {
      throw new Error('nobody calls the API here');
    },
    limits: createStreamLimits({ streams: 10, perUser: 10, perAddress: 10 }),
    mintGuest: createGuestMint({ audience: 'lapse' }, secret),
    history: { points: () => [], close: async () => undefined },
    wake: () => fanOut.publish('sales', stateAt(0)),
    pageDir: new URL('../dist/public', import.meta.url).pathname,
    streamsMax: 10,
    log,
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  await views?.close();
  await shop?.close();
});

/** Every sale has sold another number of places. */
function stateAt(update: number): SalesState {
  const sale = (at: number): SaleState => ({
    ...{ id: at + 1, name: `Sale ${at + 1}`, capacity: 100_000, available: 90_000 - update * (at + 1) },
    ...{ priceMinor: 8_800, currency: 'CNY', phase: 'open', opensAt: null, endsAt: null },
    ...{ payWithinMs: 900_000, returns: null },
  });
  return { sales: Array.from({ length: salesShown }, (_, at) => sale(at)) };
}

/** Count from now on how often a number is drawn anew. */
async function countDrawings(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const kept = { drawn: 0 };
    Object.assign(globalThis, { kept });
    const places = document.querySelector('[data-activity="1"] .left');
    if (places === null) throw new Error('there is no such sale');
    new MutationObserver(() => {
      kept.drawn += 1;
    }).observe(places, { attributes: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { kept: { drawn: number } }).kept.drawn);
}

/** CPU time of the page's own thread so far, in ms: unlike a wall clock it does not see what else runs on the machine. */
async function openCpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000;
  };
}

it('5,000 live updates a minute do not hold the page up, and the last one is what it shows', async () => {
  const { page, faults, close } = await openVisitor(browser);
  await page.goto(url);
  await page.locator(`[data-activity="${salesShown}"]`).waitFor();
  const drawn = await countDrawings(page);
  const cpuMs = await openCpuMeter(page);
  const before = await cpuMs();
  const startedAt = performance.now();
  let update = 0;
  while (performance.now() < startedAt + watchedMs) {
    update += 1;
    fanOut.publish('sales', stateAt(update));
    const next = startedAt + update * updateEveryMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
  }
  await page.locator(`[data-left="${90_000 - update}"]`).waitFor();
  const perUpdateMs = ((await cpuMs()) - before) / update;
  process.stdout.write(
    `${update} updates, ${await drawn()} drawn, ${perUpdateMs.toFixed(1)} ms of CPU each\n`,
  );
  expect(update).toBeGreaterThan((watchedMs / updateEveryMs) * 0.9);
  expect(await drawn()).toBeGreaterThan(update / 10);
  expect(perUpdateMs).toBeLessThan(updateMsMax);
  expect(faults).toEqual([]);
  // The meter sees a page that is held up, be it by what CPU a busy machine leaves to it.
  const idle = await cpuMs();
  await page.evaluate(() => {
    const end = performance.now() + 1_000;
    while (performance.now() < end);
  });
  expect((await cpuMs()) - idle).toBeGreaterThan(100);
  await close();
});
