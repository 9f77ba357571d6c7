import { findingList, parkedList, parkedOutcomes, refundList } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

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

const get = (url: string) => api.send({ url, operator: true });
const settle = (name: string, body: object) =>
  api.send({ method: 'POST', url: `/v1/ops/parked/${name}`, operator: true, as: 'boss', body });

async function park(): Promise<{ orderId: string; id: number }> {
  const activity = await api.createActivity();
  const order = (await api.placeOrder(activity.id, `buyer-${v7()}`, 'k')).json();
  const timeoutOrder = {
    orderId: order.id,
    activityId: activity.id,
    userId: 'x',
    createTime: Date.parse(order.createdAt),
    dueTime: Date.parse(order.remindAt),
  };
  const body = { version: 1, phase: 1, dueTime: timeoutOrder.dueTime, orders: [timeoutOrder] };
  await api.orders.parkMessage({
    messageId: `m-${order.id}`,
    phase: 1,
    reason: 'a test',
    body: Buffer.from(JSON.stringify(body)),
  });
  const { parked } = parkedList.parse((await get('/v1/ops/parked')).json());
  return { orderId: order.id, id: parked.at(-1)?.id ?? 0 };
}

describe('parked messages', () => {
  it('are listed by page, and by state', async () => {
    await park();
    const last = await park();
    const first = parkedList.parse((await get('/v1/ops/parked?limit=1')).json());
    expect(first.parked).toHaveLength(1);
    const rest = parkedList.parse((await get(`/v1/ops/parked?limit=200&after=${first.next}`)).json());
    expect(rest).toMatchObject({ next: null });
    expect(rest.parked.at(-1)).toMatchObject({
      id: last.id,
      kind: 'message',
      state: 'PARKED',
      reason: 'a test',
    });
    expect(rest.parked.at(-1)?.body).toContain(last.orderId);
    expect(parkedList.parse((await get('/v1/ops/parked?state=DROPPED')).json()).parked).toEqual([]);
  });

  it('are redriven only when the dry run is off, once, and it is noted who did it and why', async () => {
    const { id } = await park();
    const ask = { ids: [id], reason: 'the bug is fixed' };
    const dry = parkedOutcomes.parse((await settle('redrive', ask)).json());
    expect(dry).toEqual({ dryRun: true, outcomes: [{ id, changed: false, kind: 'redriven', rearmed: 1 }] });
    const done = parkedOutcomes.parse((await settle('redrive', { ...ask, dryRun: false })).json());
    expect(done.outcomes).toEqual([{ id, changed: true, kind: 'redriven', rearmed: 1 }]);
    const again = parkedOutcomes.parse((await settle('redrive', { ...ask, dryRun: false })).json());
    expect(again.outcomes).toEqual([{ id, changed: false, kind: 'settled', state: 'REDRIVEN' }]);
    const actions = await queryDatabase(
      stores.mysqlUrl,
      "SELECT actor, reason FROM operator_action WHERE target_kind = 'parked' AND target = ?",
      [String(id)],
    );
    expect(actions.map(({ actor, reason }) => [String(actor), reason])).toEqual([
      ['boss', 'the bug is fixed'],
    ]);
  });

  it.each([
    ['redrive', 'REDRIVEN'],
    ['drop', 'DROPPED'],
  ])('%s: the list says who did it and why, and nothing of what is parked still', async (name, state) => {
    const [{ id }, waiting] = [await park(), await park()];
    await settle(name, { ids: [id], reason: `to ${name}`, dryRun: false });
    const list = async (wanted: string) =>
      parkedList.parse((await get(`/v1/ops/parked?state=${wanted}&limit=200`)).json()).parked;
    const settled = (await list(state)).find((row) => row.id === id);
    expect(settled).toMatchObject({ settledBy: 'boss', settledReason: `to ${name}` });
    const left = (await list('PARKED')).find((row) => row.id === waiting.id);
    expect(left).toMatchObject({ settledBy: null, settledReason: null, settledAt: null });
  });

  it.each(['redrive', 'drop'])(
    '%s with a key: a repeat gets the same bytes, another request with it is 422',
    async (name) => {
      const [first, other] = [await park(), await park()];
      const ask = (ids: readonly number[], key?: string) =>
        api.send({
          method: 'POST',
          url: `/v1/ops/parked/${name}`,
          operator: true,
          as: 'boss',
          body: { ids, reason: 'the bug is fixed', dryRun: false },
          ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
        });
      const done = await ask([first.id], `${name}-1`);
      expect(done.json().outcomes).toMatchObject([{ id: first.id, changed: true }]);
      const again = await ask([first.id], `${name}-1`);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.rawPayload.equals(done.rawPayload)).toBe(true);
      const reused = await ask([other.id], `${name}-1`);
      expect([reused.statusCode, reused.json().code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      // Negative control: without the key the repeat is answered as what it is.
      expect((await ask([first.id])).json().outcomes).toMatchObject([{ changed: false, kind: 'settled' }]);
    },
  );

  it('are dropped likewise; what is not there is said to be so', async () => {
    const { id } = await park();
    const ask = { ids: [id, 999_999], reason: 'no use', dryRun: false };
    const { outcomes } = parkedOutcomes.parse((await settle('drop', ask)).json());
    expect(outcomes).toEqual([
      { id, changed: true, kind: 'dropped' },
      { id: 999_999, changed: false, kind: 'not_found' },
    ]);
  });

  it.each([
    [{ ids: [], reason: 'x' }],
    [{ ids: [1] }],
    [{ ids: ['1'], reason: 'x' }],
    [{ ids: [1], reason: 'x', dryRun: 'no' }],
    [{ ids: [1], reason: 'x', actor: 'root' }],
    [{ ids: Array.from({ length: 201 }, (_, index) => index + 1), reason: 'x' }],
  ])('%j is not valid', async (body) => {
    expect((await settle('redrive', body)).statusCode).toBe(400);
  });
});

it('findings of the auditor are listed newest first, by page', async () => {
  for (const kind of ['drift', 'orphan', 'restart']) {
    await queryDatabase(
      stores.mysqlUrl,
      "INSERT INTO audit_finding (id, at, activity_id, kind, action, detail) VALUES (UNHEX(?), NOW(3), 1, ?, 'healed', '{\"count\":2}')",
      [v7().replaceAll('-', ''), kind],
    );
  }
  const first = findingList.parse((await get('/v1/ops/findings?limit=2')).json());
  expect(first.findings.map(({ kind }) => kind)).toEqual(['restart', 'orphan']);
  expect(first.findings[0]?.detail).toEqual({ count: 2 });
  const second = findingList.parse((await get(`/v1/ops/findings?limit=2&before=${first.next}`)).json());
  expect([second.findings.map(({ kind }) => kind), second.next]).toEqual([['drift'], null]);
});

it('refunds that are owed are listed with what is known of them, apart from those paid back', async () => {
  const activity = await api.createActivity();
  const order = (await api.placeOrder(activity.id, 'late', 'k')).json();
  await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: 'late' });
  expect((await api.pay(paymentEvent(order))).json().outcome).toBe('refund_pending');
  const { refunds, next } = refundList.parse((await get('/v1/ops/refunds')).json());
  expect(next).toBeNull();
  expect(refunds).toEqual([
    expect.objectContaining({ orderId: order.id, amountMinor: order.amountMinor, state: 'REFUND_PENDING' }),
  ]);
  expect((await get('/v1/ops/refunds?state=REFUNDED')).json().refunds).toEqual([]);
});

it.each(['/v1/ops/parked', '/v1/ops/findings', '/v1/ops/refunds'])(
  '%s is for operators alone',
  async (url) => {
    expect((await api.send({ url, as: 'ann' })).json().code).toBe('FORBIDDEN');
    expect((await api.send({ url })).json().code).toBe('UNAUTHENTICATED');
  },
);
