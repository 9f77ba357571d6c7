import { problemView } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

/** As retention does it, whatever is open: Redis has it still. */
const archive = (id: number) =>
  queryDatabase(
    stores.mysqlUrl,
    'UPDATE activity SET archived_at = NOW(3), generation = generation + 2 WHERE id = ?',
    [id],
  );

/** Redis has forgotten it, too. */
async function archivedActivity() {
  const activity = await api.createActivity();
  await archive(activity.id);
  await api.stock.forget(activity.id);
  await queryDatabase(stores.mysqlUrl, 'UPDATE activity SET stock_run_id = NULL WHERE id = ?', [activity.id]);
  api.create.activities.forget(activity.id);
  return activity;
}

it('an order in an archived activity is refused with 410 ACTIVITY_ARCHIVED, and nothing is written in either store', async () => {
  const activity = await archivedActivity();
  const refused = await api.placeOrder(activity.id, 'ann', 'k');
  const shown = (await api.send({ url: `/v1/activities/${activity.id}` })).json();
  expect([refused.statusCode, problemView.parse(refused.json())]).toMatchObject([
    410,
    { code: 'ACTIVITY_ARCHIVED', archivedAt: shown.archivedAt },
  ]);
  expect(await api.stock.readLoad(activity.id)).toBeNull();
  expect((await api.orders.readActivity(activity.id))?.available).toBe(activity.available);
});

it('a process whose cache still knows it as it was sells nothing in it either', async () => {
  const activity = await api.createActivity();
  expect((await api.placeOrder(activity.id, 'bea', 'k1')).statusCode).toBe(201);
  await archive(activity.id);
  // Redis has not forgotten it yet: it gives out the hold, and MySQL refuses the order.
  const refused = await api.placeOrder(activity.id, 'cat', 'k2');
  expect(refused.json().code).toBe('STOCK_NOT_READY');
  expect((await api.placeOrder(activity.id, 'cat', 'k2')).json().code).toBe('ACTIVITY_ARCHIVED');
  expect((await api.orders.readActivity(activity.id))?.available).toBe(activity.available - 1);
});

it('its capacity and its pause cannot be changed, and the list leaves it out', async () => {
  const { id } = await archivedActivity();
  const operator = { operator: true, as: 'boss' } as const;
  const capacity = await api.send({
    ...{ ...operator, method: 'PATCH', url: `/v1/activities/${id}` },
    body: { capacity: 500, reason: 'more chairs' },
  });
  const pause = await api.send({
    ...{ ...operator, method: 'POST', url: `/v1/activities/${id}/pause` },
    body: { dryRun: false, reason: 'x' },
  });
  expect([capacity, pause].map((reply) => [reply.statusCode, reply.json().code])).toEqual([
    [410, 'ACTIVITY_ARCHIVED'],
    [410, 'ACTIVITY_ARCHIVED'],
  ]);
  const { activities } = (await api.send({ url: '/v1/activities?limit=100' })).json();
  expect(activities.map((each: { id: number }) => each.id)).not.toContain(id);
});

it('an order that went to the archive is shown and cancelled again as before for its buyer, and is there for nobody else', async () => {
  const activity = await api.createActivity();
  const placed = (await api.placeOrder(activity.id, 'dan', 'k')).json();
  const url = `/v1/orders/${placed.id}`;
  await api.send({ method: 'POST', url: `${url}/cancel`, as: 'dan' });
  const before = (await api.send({ url, as: 'dan' })).json();
  await queryDatabase(stores.mysqlUrl, 'DELETE FROM effect');
  await queryDatabase(
    stores.mysqlUrl,
    'UPDATE orders SET idempotency_key = NULL, expires_at = NOW(3) WHERE id = ?',
    [Buffer.from(placed.id.replaceAll('-', ''), 'hex')],
  );
  const all = { status: 'CANCELLED', olderThanMs: 0, limit: 10, after: null } as const;
  expect((await api.orders.archiveOrders(all)).archived).toBe(1);
  expect(
    await queryDatabase(stores.mysqlUrl, 'SELECT COUNT(*) AS n FROM orders WHERE activity_id = ?', [
      activity.id,
    ]),
  ).toEqual([{ n: 0 }]);
  expect((await api.send({ url, as: 'dan' })).json()).toMatchObject({
    ...before,
    expiresAt: expect.any(String),
  });
  expect((await api.send({ url, as: 'eve' })).statusCode).toBe(404);

  const post = (what: string, as: string, options: object = {}) =>
    api.send({ method: 'POST', url: `${url}/${what}`, as, ...options });
  const cancelled = await post('cancel', 'dan');
  expect([cancelled.statusCode, cancelled.json()]).toMatchObject([
    200,
    { id: placed.id, status: 'CANCELLED' },
  ]);
  expect((await post('cancel', 'eve')).statusCode).toBe(404);
  const byHand = { operator: true, body: { reason: 'x' } };
  expect((await post('cancel', 'boss', byHand)).json()).toEqual(cancelled.json());
  const extended = await post('extend', 'boss', { operator: true, body: { byMs: '5m', reason: 'x' } });
  expect([extended.statusCode, extended.json().code]).toEqual([409, 'ORDER_NOT_PENDING']);
  const attempt = { orderId: placed.id, provider: 'simulator' };
  expect((await api.orders.openAttempt({ ...attempt, userId: 'dan' })).kind).toBe('not_pending');
  expect((await api.orders.openAttempt({ ...attempt, userId: 'eve' })).kind).toBe('not_found');
});
