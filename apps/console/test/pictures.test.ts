import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@lapse/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openVisitor } from './open-browser.ts';
import { type ShopProcesses, startShop } from './shop-processes.ts';

/** Kept with the reports of the run; `npm run pictures` takes them into the README. */
const folder = fileURLToPath(new URL('../test-results/pictures/', import.meta.url));
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
const desk = { viewport: { width: 1_280, height: 1_000 } };
const burst = 60;

let shop: ShopProcesses;
let browser: Browser;
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  shop = await startShop();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
});

const take = (page: Page, name: string) =>
  page.screenshot({ path: `${folder}${name}.png`, animations: 'disabled' });

describe('pictures of a sale', () => {
  it('show the shop on a phone, an order with its countdown, a burst, and what became of an order', async () => {
    await shop.start('sweeper', shop.env);
    const show = await shop.openActivity({ name: 'Evening show', capacity: 120 });
    const small = await shop.openActivity({
      ...{ name: 'Matinee', capacity: 3, priceMinor: 4_200 },
      ...{ payWithinMs: 360_000, remindAfterMs: 240_000 },
    });
    const rush = await shop.openActivity({
      ...{ name: 'Opening night', capacity: burst, priceMinor: 12_800 },
      ...{ payWithinMs: 12_000, remindAfterMs: 6_000 },
    });
    for (const buyer of ['ann', 'ben', 'cleo']) await shop.placeOrder(small, buyer);
    await Promise.all(Array.from({ length: 40 }, (_, index) => shop.placeOrder(show, `early-${index}`)));

    const buyer = await openVisitor(browser, phone);
    await buyer.page.goto(shop.pageUrl);
    await buyer.page.getByText('Evening show').waitFor();
    await buyer.page.getByText('Sold out').waitFor();
    await take(buyer.page, 'shop-phone');
    const evening = buyer.page.locator('article', { hasText: 'Evening show' });
    await evening.getByRole('button').first().click();
    // A countdown that runs.
    await buyer.page.getByText(/^14:5\d$/).waitFor();
    await take(buyer.page, 'order-phone');

    const operator = await openVisitor(browser, desk);
    await operator.page.goto(`${shop.pageUrl}/ops`);
    await operator.page.getByLabel('Token').fill(await shop.tokenFor('boss', 'operator'));
    await operator.page.locator('form').getByRole('button', { name: 'Sign in' }).click();
    const orders = await Promise.all(
      Array.from({ length: burst }, (_, index) => shop.placeOrder(rush, `buyer-${index}`)),
    );
    const order = orders[0];
    await waitUntil(async () => (await shop.shop.orders.readOrder(order?.id ?? ''))?.status !== 'PENDING', {
      what: 'the first of the burst to close',
      timeoutMs: 30_000,
    });
    await operator.page.locator('a.tile', { hasText: 'Closed unpaid' }).getByText(`${burst}`).waitFor();
    await operator.page.screenshot({ path: `${folder}operator.png`, animations: 'disabled', fullPage: true });
    await operator.page.goto(`${shop.pageUrl}/ops/orders/${order?.id}`);
    await operator.page.locator('.timeline li').nth(3).waitFor();
    await operator.page.screenshot({ path: `${folder}timeline.png`, animations: 'disabled', fullPage: true });
    expect([...buyer.faults, ...operator.faults]).toEqual([]);
    await Promise.all([buyer.close(), operator.close()]);
  });
});
