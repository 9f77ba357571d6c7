import { execFileSync } from 'node:child_process';
import { queryDatabase } from '@lapse/testing';
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

/** A browser whose operator has signed in, at the overview. */
async function openOperator() {
  const visitor = await openVisitor(browser);
  await visitor.page.goto(`${shop.pageUrl}/ops`);
  await visitor.page.getByLabel('Token').fill(await shop.tokenFor('boss', 'operator'));
  await visitor.page.locator('form').getByRole('button', { name: 'Sign in' }).click();
  await visitor.page.locator('.ops').waitFor();
  return visitor;
}
const expiryOf = (id: string) =>
  queryDatabase(
    shop.shop.databaseUrl,
    "SELECT expires_at FROM orders WHERE id = UNHEX(REPLACE(?, '-', ''))",
    [id],
  );
const park = (id: string) =>
  queryDatabase(
    shop.shop.databaseUrl,
    `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at)
     VALUES ('order', ?, UNHEX(SHA2('', 256)), UNHEX(REPLACE(?, '-', '')), 2, 'planted', NOW(3))`,
    [id, id],
  );
/** The command line beside the page, on the same stores. */
const lapse = (...args: string[]): string =>
  execFileSync(process.execPath, [new URL('../../cli/dist/main.js', import.meta.url).pathname, ...args], {
    env: { PATH: process.env.PATH, ...shop.env },
    encoding: 'utf8',
  });
const row = (page: Page, activityId: number) => page.locator(`tr[data-activity="${activityId}"]`);

describe('an operator', () => {
  it('sees a place that Redis has lost, in the row of its activity, and none where the stores agree; heals it, and sees that', async () => {
    const [good, bad] = [await shop.openActivity({ name: 'Good' }), await shop.openActivity({ name: 'Bad' })];
    await shop.placeOrder(good, 'ann');
    const { page, faults, close } = await openOperator();
    await row(page, good).getByText('MySQL and Redis agree').waitFor();
    await row(page, bad).getByText('MySQL and Redis agree').waitFor();
    await shop.shop.redisCommand('DECR', `activity:{${bad}}:stock`);
    await row(page, bad).getByText('Redis differs').waitFor();
    expect(await row(page, bad).locator('.badge.bad').allTextContents()).toEqual(['Redis differs', '9']);
    expect(await row(page, good).locator('.badge.bad').count()).toBe(0);
    lapse('audit', '--activity', String(bad), '--heal', '--reason', 'of the test');
    await row(page, bad).getByText('MySQL and Redis agree').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('comes from a number to its rows, to an order and its history, tries to move its deadline, and moves it with a reason', async () => {
    const activityId = await shop.openActivity({ name: 'Moved' });
    const order = await shop.placeOrder(activityId, 'bea');
    const { page, faults, close } = await openOperator();
    await page.getByRole('link', { name: /Pending/ }).click();
    await page.getByRole('link', { name: order.id }).click();
    await page.getByText('order placed, places held, waiting for payment').waitFor();
    await page.getByLabel('By minutes').fill('7');
    await page.getByLabel('Why').first().fill('the buyer called');
    await page.getByRole('button', { name: 'Show what would happen' }).first().click();
    await page.locator('.outcome', { hasText: 'Nothing was changed. It would do this' }).waitFor();
    const [kept] = await expiryOf(order.id);
    expect(kept?.expires_at).toEqual(new Date(order.expiresAt));
    await page.getByRole('button', { name: 'Extend deadline' }).click();
    await page.getByText('Move the deadline 7 min later').waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Done.').waitFor();
    await page.getByText('the buyer called').waitFor();
    const [moved] = await expiryOf(order.id);
    expect(moved?.expires_at).toEqual(new Date(Date.parse(order.expiresAt) + 420_000));
    expect(faults).toEqual([]);
    await close();
  });

  it('sees every process alive, pauses one with a reason and has it go on, and pauses a sale for buyers', async () => {
    const activityId = await shop.openActivity({ name: 'Paused' });
    const { page, faults, close } = await openOperator();
    const closer = page.locator('tr[data-worker="closer"]');
    await closer.getByText('running').waitFor();
    expect(await page.locator('tr[data-worker]').count()).toBe(4);
    await closer.getByText(/^\d+\.\d+\.\d+$/).waitFor();
    await closer.locator('summary').click();
    await closer.getByLabel('Why').fill('a new version');
    await closer.getByRole('button', { name: 'Pause' }).click();
    await closer.getByRole('button', { name: 'Apply' }).click();
    await closer.locator('.badge', { hasText: 'paused' }).waitFor();
    await closer.getByLabel('Why').fill('it is there');
    await closer.getByRole('button', { name: 'Resume' }).click();
    await closer.getByRole('button', { name: 'Apply' }).click();
    await closer.getByText('running').waitFor();
    await row(page, activityId).locator('summary').click();
    await row(page, activityId).getByLabel('Why').fill('a wrong price');
    await row(page, activityId).getByRole('button', { name: 'Pause' }).click();
    await row(page, activityId).getByRole('button', { name: 'Apply' }).click();
    await row(page, activityId).getByText('Sale paused').waitFor();
    await page.getByRole('link', { name: 'Tickets' }).click();
    await page
      .locator(`[data-activity="${activityId}"]`)
      .getByRole('button', { name: 'Sale paused' })
      .waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('puts a parked order back to work: first sees what would happen, then does it', async () => {
    const order = await shop.placeOrder(await shop.openActivity({ name: 'Parked' }), 'dan');
    await park(order.id);
    const { page, faults, close } = await openOperator();
    await page.getByRole('link', { name: /1\s*Orders set aside/ }).click();
    await page.getByText('planted').waitFor();
    await page.getByRole('checkbox').check();
    await page.getByLabel('Why').fill('its cause is gone');
    await page.getByRole('button', { name: 'Show what would happen' }).click();
    await page.locator('.outcome', { hasText: 'redriven' }).waitFor();
    const state = async () =>
      (await queryDatabase(shop.shop.databaseUrl, 'SELECT state FROM parked')).map((row) => row.state);
    expect(await state()).toEqual(['PARKED']);
    await page.getByRole('button', { name: 'Put back to work' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.locator('.outcome', { hasText: 'Done.' }).waitFor();
    expect(await state()).toEqual(['REDRIVEN']);
    expect(faults).toEqual([]);
    await close();
  });

  it('does on an order’s own page what waits for a person: here a parked order', async () => {
    const order = await shop.placeOrder(await shop.openActivity({ name: 'Parked too' }), 'eli');
    await park(order.id);
    const { page, faults, close } = await openOperator();
    await page.goto(`${shop.pageUrl}/ops/orders/${order.id}`);
    const action = page.locator('#actions ~ div', { hasText: 'Set aside, row' });
    await action.getByLabel('Why').fill('its cause is gone');
    await action.getByRole('button', { name: 'Show what would happen' }).click();
    await action.locator('.outcome', { hasText: 'redriven' }).waitFor();
    await action.getByRole('button', { name: 'Put back to work' }).click();
    await action.getByRole('button', { name: 'Apply' }).click();
    await action.locator('.outcome', { hasText: 'Done.' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  it('finds the orders behind the held places, behind how late orders closed, and all findings', async () => {
    const activityId = await shop.openActivity({ name: 'Behind' });
    const held = await shop.placeOrder(activityId, 'fay');
    const { page, faults, close } = await openOperator();
    await row(page, activityId).getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('link', { name: held.id }).waitFor();
    await page.getByText(`Orders · Activity ${activityId} · pending`).waitFor();
    await page.goto(`${shop.pageUrl}/ops`);
    await page.locator('a.tile', { hasText: 'p99.9' }).click();
    await page.getByRole('heading', { name: 'How late orders closed' }).waitFor();
    await page.goto(`${shop.pageUrl}/ops`);
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.getByRole('heading', { name: 'Auditor’s findings' }).waitFor();
    await page.getByRole('cell').or(page.getByText('Nothing here.')).first().waitFor();
    expect(await page.locator('.fault').allTextContents()).toEqual(['']);
    expect(faults).toEqual([]);
    await close();
  });

  it('finds orders by their user', async () => {
    const activityId = await shop.openActivity({ name: 'Found' });
    const order = await shop.placeOrder(activityId, 'cem');
    const { page, close } = await openOperator();
    await page.getByLabel('By', { exact: true }).selectOption('user');
    await page.getByLabel('What').fill('cem');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: order.id }).waitFor();
    await close();
  });

  it('a buyer is no operator: the page asks for another token, and its server gives nothing', async () => {
    const { page, close } = await openVisitor(browser);
    await page.goto(`${shop.pageUrl}/ops`);
    await page.getByText('scope “operator”').waitFor();
    const statuses = await page.evaluate(async () => {
      const paths = ['/events/ops', '/api/ops/orders?status=PENDING', '/api/ops/history', '/api/ops/parked'];
      return Promise.all(paths.map(async (path) => (await fetch(path)).status));
    });
    expect(statuses).toEqual([403, 403, 403, 403]);
    await close();
  });

  it('the token is in no script, no storage and no address, and nowhere in the log', async () => {
    const token = await shop.tokenFor('boss', 'operator');
    const { page, close } = await openOperator();
    const seen = await page.evaluate(() =>
      JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href]),
    );
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    const signature = token.split('.')[2] ?? '';
    expect(`${seen}${cookie?.value}${shop.page.output()}`).not.toContain(signature.slice(0, 20));
    expect(seen.startsWith('["",')).toBe(true);
    await close();
  });
});
