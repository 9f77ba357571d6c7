import { effectOutcomes, leftEffectList, resendOutcomes, undeliveredList } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const query = (sql: string, values: readonly unknown[] = []) => queryDatabase(stores.mysqlUrl, sql, values);
const get = (url: string) => api.send({ url, operator: true });
const post = (url: string, body: object, key?: string) =>
  api.send({
    method: 'POST',
    url,
    operator: true,
    as: 'boss',
    body: { reason: 'the receiver is back', ...body },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
const bytes = (id: string) => id.replaceAll('-', '');

/** A delivery that was given up. @returns its number. */
async function giveUp(kind: 'notification' | 'shop_event', orderId: string): Promise<number> {
  if (kind === 'notification') {
    await query(
      `INSERT INTO notification (order_id, stage, state, attempts, next_attempt_at, created_at, last_error)
       VALUES (UNHEX(?), 'CLOSED', 'PARKED', 10, NOW(3), NOW(3), 'no such mailbox')`,
      [bytes(orderId)],
    );
  } else {
    await query(
      `INSERT INTO shop_event (event_id, order_id, seq, type, body, state, attempts, next_attempt_at, created_at)
       VALUES (UNHEX(?), UNHEX(?), 1000, 'created', '{}', 'PARKED', 60, NOW(3), NOW(3))`,
      [bytes(v7()), bytes(orderId)],
    );
  }
  const [row] = await query(`SELECT id FROM ${kind} WHERE order_id = UNHEX(?)`, [bytes(orderId)]);
  return Number(row?.id);
}

describe.each([
  ['notification', 'CLOSED', 10],
  ['shop_event', 'created', 60],
] as const)('a delivery that was given up: %s', (kind, what, attempts) => {
  it('is listed by page', async () => {
    const orders = [v7(), v7(), v7()];
    const ids: number[] = [];
    for (const orderId of orders) ids.push(await giveUp(kind, orderId));
    const first = undeliveredList.parse((await get(`/v1/ops/undelivered?kind=${kind}&limit=2`)).json());
    expect(first.undelivered).toMatchObject([
      { id: ids[0], kind, orderId: orders[0], what, attempts },
      { id: ids[1] },
    ]);
    const rest = undeliveredList.parse(
      (await get(`/v1/ops/undelivered?kind=${kind}&limit=2&after=${first.next}`)).json(),
    );
    expect([rest.undelivered.map(({ id }) => id), rest.next]).toEqual([[ids[2]], null]);
  });

  it('is sent again only when the dry run is off, once, with all its tries; it is noted who did it', async () => {
    const orderId = v7();
    const id = await giveUp(kind, orderId);
    const ask = { kind, ids: [id] };
    const dry = resendOutcomes.parse((await post('/v1/ops/undelivered/resend', ask)).json());
    expect(dry).toEqual({ dryRun: true, outcomes: [{ id, changed: false, kind: 'resent', orderId, what }] });
    const read = async () =>
      (await query(`SELECT state, attempts_before FROM ${kind} WHERE id = ?`, [id]))[0];
    expect(await read()).toEqual({ state: 'PARKED', attempts_before: 0 });

    const wet = { ...ask, ids: [id, 999_999], dryRun: false };
    expect((await post('/v1/ops/undelivered/resend', wet)).json().outcomes).toEqual([
      { id, changed: true, kind: 'resent', orderId, what },
      { id: 999_999, changed: false, kind: 'not_found' },
    ]);
    expect(await read()).toEqual({ state: 'WAITING', attempts_before: attempts });
    expect((await post('/v1/ops/undelivered/resend', wet)).json().outcomes[0]).toEqual({
      id,
      changed: false,
      kind: 'not_parked',
      state: 'WAITING',
    });
    const actions = await query('SELECT actor, reason FROM operator_action WHERE target = ?', [orderId]);
    expect(actions.map(({ actor, reason }) => [String(actor), reason])).toEqual([
      ['boss', 'the receiver is back'],
    ]);
  });

  it('with a key: a repeat gets the same bytes, and the other kind with it is 422', async () => {
    const id = await giveUp(kind, v7());
    const ask = (which: string) =>
      post('/v1/ops/undelivered/resend', { kind: which, ids: [id], dryRun: false }, `resend-${kind}`);
    const [first, second] = [await ask(kind), await ask(kind)];
    expect(first.json().outcomes).toMatchObject([{ changed: true }]);
    expect(second.rawPayload.equals(first.rawPayload)).toBe(true);
    const other = await ask(kind === 'notification' ? 'shop_event' : 'notification');
    expect(other.json().code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

it('notices that could not be written in all their tries are listed and redriven, once, dry run first', async () => {
  const [id, young] = [v7(), v7()];
  for (const [each, attempts] of [
    [id, 20],
    [young, 3],
  ] as const) {
    await query(
      `INSERT INTO effect (id, batch_id, kind, order_ids, attempts) VALUES (UNHEX(?), UNHEX(?), 'closed_notice', ?, ?)`,
      [bytes(each), bytes(v7()), Buffer.alloc(32), attempts],
    );
  }
  const list = async () => leftEffectList.parse((await get('/v1/ops/effects')).json());
  expect(await list()).toMatchObject({ effects: [{ id, kind: 'closed_notice', orders: 2 }], next: null });
  const redrive = async (change: object = {}) =>
    effectOutcomes.parse(
      (await post('/v1/ops/effects/redrive', { ids: [id, young], ...change }, 'effects-1')).json(),
    );
  const redriven = { id, kind: 'redriven', effect: 'closed_notice', orders: 2 };
  const notLeft = { id: young, changed: false, kind: 'not_left' };
  expect((await redrive()).outcomes).toEqual([{ ...redriven, changed: false }, notLeft]);
  expect((await list()).effects).toHaveLength(1);
  const done = await redrive({ dryRun: false });
  expect(done.outcomes).toEqual([{ ...redriven, changed: true }, notLeft]);
  expect(await redrive({ dryRun: false })).toEqual(done);
  expect((await list()).effects).toEqual([]);
});

it.each([
  ['/v1/ops/undelivered/resend', { kind: 'sms', ids: [1] }],
  ['/v1/ops/undelivered/resend', { kind: 'notification', ids: [] }],
  ['/v1/ops/undelivered/resend', { ids: [1] }],
  ['/v1/ops/effects/redrive', { ids: [1] }],
  ['/v1/ops/effects/redrive', { ids: ['0198C0DE-7000-7000-8000-000000000001'] }],
])('%s %j is not valid', async (url, body) => {
  const reply = await post(url, body);
  expect([reply.statusCode, reply.json().code]).toEqual([400, 'INVALID_REQUEST']);
});

it.each(['/v1/ops/undelivered', '/v1/ops/effects'])('%s is for operators alone', async (url) => {
  expect((await api.send({ url, as: 'ann' })).json().code).toBe('FORBIDDEN');
  expect((await api.send({ url })).json().code).toBe('UNAUTHENTICATED');
});
