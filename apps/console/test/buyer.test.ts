import { createProviderClient } from '@lapse/sale-player';
import { holdLock, queryDatabase } from '@lapse/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openVisitor } from './open-browser.ts';
import { type ShopProcesses, startShop } from './shop-processes.ts';

let shop: ShopProcesses;
let browser: Browser;
beforeAll(async () => {
  shop = await startShop();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
});

/** A deadline that the test waits for, and that a browser on a busy machine does not miss before it has bought. */
const soon = { payWithinMs: 10_000, remindAfterMs: 5_000 };

const card = (page: Page, activityId: number) => page.locator(`[data-activity="${activityId}"]`);
const order = (page: Page) => page.locator('article.order');
const waitForStatus = (page: Page, status: string) =>
  page.waitForSelector(`article.order[data-status="${status}"]`, { timeout: 20_000 });

/** Press "buy" and come to the order's page. @returns the order's id. */
async function buy(page: Page, activityId: number): Promise<string> {
  await page.goto(shop.pageUrl);
  await card(page, activityId).getByRole('button', { name: 'Buy a ticket' }).click();
  await page.waitForURL(/\/orders\//);
  await waitForStatus(page, 'PENDING');
  return page.url().split('/').at(-1) ?? '';
}

/** Every second that the countdown shows from now on, as the page itself sees it. */
async function watchClock(page: Page): Promise<() => Promise<number[]>> {
  const seen = await page.locator('.clock').evaluateHandle((clock) => {
    const seconds: number[] = [];
    const note = (): void => void seconds.push(Number((clock as HTMLElement).dataset.seconds));
    new MutationObserver(note).observe(clock, { attributes: true, attributeFilter: ['data-seconds'] });
    return seconds;
  });
  return () => seen.jsonValue();
}

describe('a buyer', () => {
  it('buys, pays on the provider’s page in another tab, and sees PAID without doing anything', async () => {
    const activityId = await shop.openActivity({ name: 'To be paid' });
    const { page, faults, close } = await openVisitor(browser);
    await buy(page, activityId);
    expect(await order(page).locator('.clock').textContent()).toMatch(/^1[45]:\d\d$/);
    const [provider] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Pay now' }).click(),
    ]);
    await provider.getByRole('button', { name: 'Pay', exact: true }).click();
    await provider.getByText('Paid. Thank you.').waitFor();
    await waitForStatus(page, 'PAID');
    expect(await order(page).textContent()).toContain('The place is yours.');
    await page.getByRole('link', { name: 'All tickets' }).click();
    expect(await card(page, activityId).locator('.left').getAttribute('data-left')).toBe('9');
    expect(faults).toEqual([]);
    await close();
  });

  it('who does not pay is reminded and closed; the countdown ends at zero, and a second browser gets the place', async () => {
    const activityId = await shop.openActivity({
      name: 'One place',
      capacity: 1,
      payWithinMs: 12_000,
      remindAfterMs: 5_000,
    });
    const ann = await openVisitor(browser);
    const id = await buy(ann.page, activityId);
    const seen = await watchClock(ann.page);
    const bea = await openVisitor(browser);
    await bea.page.goto(shop.pageUrl);
    await bea.page.getByRole('button', { name: 'Sold out' }).waitFor();
    await card(bea.page, activityId)
      .getByText(/One place may come back at \d\d:\d\d:\d\d/)
      .waitFor();
    await order(ann.page).getByText('You were reminded').waitFor();
    // Its close waits until the zero was seen: it comes some milliseconds after it, and the page may be the later of the two.
    const lock = await holdLock(shop.shop.databaseUrl, 'SELECT id FROM orders WHERE id = ? FOR UPDATE', [
      Buffer.from(id.replaceAll('-', ''), 'hex'),
    ]);
    await ann.page.locator('.clock[data-seconds="0"]').waitFor();
    const seconds = await seen();
    await lock.release();
    expect(seconds.slice(-4)).toEqual([3, 2, 1, 0]);
    await waitForStatus(ann.page, 'TIMEOUT_CLOSED');
    expect(await order(ann.page).textContent()).toContain('Nothing had been paid by then');
    await card(bea.page, activityId).getByRole('button', { name: 'Buy a ticket' }).click();
    await waitForStatus(bea.page, 'PENDING');
    expect([ann.faults, bea.faults]).toEqual([[], []]);
    await ann.close();
    await bea.close();
  });

  it('a double click is one order', async () => {
    const activityId = await shop.openActivity({ name: 'Twice' });
    const { page, close } = await openVisitor(browser);
    await page.goto(shop.pageUrl);
    await card(page, activityId).getByRole('button', { name: 'Buy a ticket' }).dblclick();
    await waitForStatus(page, 'PENDING');
    const rows = await queryDatabase(shop.shop.databaseUrl, 'SELECT id FROM orders WHERE activity_id = ?', [
      activityId,
    ]);
    expect(rows).toHaveLength(1);
    await close();
  });

  it('who pays too late is told by both pages that nothing was charged, and the order stays closed', async () => {
    const activityId = await shop.openActivity({ name: 'Too late', ...soon });
    const { page, close } = await openVisitor(browser);
    await buy(page, activityId);
    const [provider] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Pay now' }).click(),
    ]);
    const pay = provider.getByRole('button', { name: 'Pay', exact: true });
    await pay.waitFor();
    await waitForStatus(page, 'TIMEOUT_CLOSED');
    await pay.click();
    await provider.getByText('Nothing was charged').waitFor();
    expect(await order(page).getAttribute('data-status')).toBe('TIMEOUT_CLOSED');
    await close();
  });

  it('whose money comes after the close is told that it was paid back, without doing anything', async () => {
    const activityId = await shop.openActivity({ name: 'Late', ...soon });
    const { page, close } = await openVisitor(browser);
    const id = await buy(page, activityId);
    // Paid past Lapse, in a checkout of the shop's own: an attempt begun here would be cancelled at the deadline.
    const { LAPSE_PAYMENT_URL: providerUrl = '', LAPSE_PAYMENT_API_KEY: providerKey = '' } = shop.env;
    const provider = createProviderClient({ providerUrl, providerKey });
    const opened = await provider.openPayment({ id, amountMinor: 8_800, currency: 'CNY' });
    await waitForStatus(page, 'TIMEOUT_CLOSED');
    await provider.payOpened(opened);
    await page.getByText('It has been paid back').waitFor();
    expect(await order(page).getAttribute('data-status')).toBe('TIMEOUT_CLOSED');
    await close();
  });

  it('cancels after a second question, and the place is back at once', async () => {
    const activityId = await shop.openActivity({ name: 'Cancelled', capacity: 1 });
    const { page, close } = await openVisitor(browser);
    await buy(page, activityId);
    await page.getByRole('button', { name: 'Cancel order' }).click();
    await page.getByRole('button', { name: 'Yes, cancel it' }).click();
    await waitForStatus(page, 'CANCELLED');
    await page.getByRole('link', { name: 'Buy again' }).click();
    await card(page, activityId).locator('[data-left="1"]').waitFor();
    await close();
  });

  it('sees nothing of another buyer’s order', async () => {
    const activityId = await shop.openActivity({ name: 'Private' });
    const ann = await openVisitor(browser);
    const id = await buy(ann.page, activityId);
    const bea = await openVisitor(browser);
    await bea.page.goto(`${shop.pageUrl}/orders/${id}`);
    await bea.page.getByText('There is no such order').waitFor();
    await ann.close();
    await bea.close();
  });

  it('reads Chinese where the browser does, and English after a click', async () => {
    await shop.openActivity({ name: '晚场演出' });
    const { page, close } = await openVisitor(browser, { locale: 'zh-CN' });
    await page.goto(shop.pageUrl);
    await page.getByRole('heading', { name: '正在销售' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'On sale now' }).waitFor();
    await close();
  });
});
