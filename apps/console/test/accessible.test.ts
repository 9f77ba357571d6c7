import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openVisitor } from './open-browser.ts';
import { type ShopProcesses, startShop } from './shop-processes.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let shop: ShopProcesses;
let browser: Browser;
let soldOut: number;
beforeAll(async () => {
  shop = await startShop();
  browser = await openBrowser();
  await shop.openActivity({ name: 'Evening show' });
  soldOut = await shop.openActivity({ name: 'Small stage', capacity: 1 });
  await shop.placeOrder(soldOut, 'ann');
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
});

/** What axe finds against WCAG 2 A and AA, in words. */
async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger: the page's own policy lets no foreign script in.
  await page.evaluate(axeSource);
  const results = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
    return axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
  });
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

const looks = [
  ['light, wide', {}],
  [
    'dark, on a phone, in Chinese',
    { colorScheme: 'dark', locale: 'zh-CN', viewport: { width: 360, height: 740 } },
  ],
] as const;

describe.each(looks)('the page, %s', (_name, options) => {
  it('has no violation of WCAG AA in any view, and no view is wider than its screen', async () => {
    const { page, faults, close } = await openVisitor(browser, options);
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    const check = async (view: string): Promise<void> => {
      expect([view, await violations(page), await fits()]).toEqual([view, [], true]);
    };
    await page.goto(shop.pageUrl);
    await page.locator(`[data-activity="${soldOut}"]`).waitFor();
    await check('sales');
    await page.locator('button.main:not(:disabled)').first().click();
    await page.locator('article.order').waitFor();
    await check('order');
    const orderPath = new URL(page.url()).pathname;
    await page.goto(`${shop.pageUrl}/ops`);
    await page.locator('form').waitFor();
    await check('sign in');
    await page.locator('#token').fill(await shop.tokenFor('boss', 'operator'));
    await page.locator('form button').click();
    await page.locator('.ops').waitFor();
    await check('overview');
    await page.locator('a.tile').first().click();
    await page.locator('td.id a').first().waitFor();
    await check('list');
    await page.goto(`${shop.pageUrl}/ops${orderPath}`);
    await page.locator('.timeline li').first().waitFor();
    await check('order for operators');
    expect(faults).toEqual([]);
    await close();
  });
});

it('a buyer needs no mouse: buys with the keyboard alone', async () => {
  const activityId = await shop.openActivity({ name: 'By keyboard' });
  const { page, close } = await openVisitor(browser);
  await page.goto(shop.pageUrl);
  const button = page.locator(`[data-activity="${activityId}"] button`);
  await button.waitFor();
  for (let presses = 0; presses < 20; presses += 1) {
    await page.keyboard.press('Tab');
    if (await button.evaluate((element) => element === document.activeElement)) break;
  }
  await page.keyboard.press('Enter');
  await page.locator('article.order[data-status="PENDING"]').waitFor();
  await close();
});

it('nothing moves while the page comes up', async () => {
  const { page, close } = await openVisitor(browser);
  await page.addInitScript(() => {
    const kept = globalThis as unknown as { shift: number };
    kept.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) kept.shift += (entry as unknown as { value: number }).value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(shop.pageUrl);
  await page.locator(`[data-activity="${soldOut}"]`).waitFor();
  // "Good" of the Core Web Vitals is 0.1.
  expect(await page.evaluate(() => (globalThis as unknown as { shift: number }).shift)).toBeLessThan(0.05);
  await close();
});
