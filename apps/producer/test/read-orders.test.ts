import { orderTimeline } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let activityId: number;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  activityId = (await api.createActivity()).id;
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

const whatOf = async (id: string, as: string) => {
  const reply = await api.send({ url: `/v1/orders/${id}/timeline`, as });
  const { events } = orderTimeline.parse(reply.json());
  const times = events.map(({ at }) => at);
  expect(times).toEqual([...times].sort());
  return events.map(({ kind, what }) => `${kind}: ${what}`);
};
const cancel = (id: string, as: string) => api.send({ method: 'POST', url: `/v1/orders/${id}/cancel`, as });

describe('what an operator did to an order', () => {
  it('is in its timeline: the deadline before and after; who and why for operators alone', async () => {
    const order = (await api.placeOrder(activityId, 'zoe', 'k')).json();
    const extended = await api.send({
      method: 'POST',
      url: `/v1/orders/${order.id}/extend`,
      operator: true,
      as: 'boss',
      body: { byMs: '5m', reason: 'the bank was slow' },
    });
    const moved = { oldDeadline: order.expiresAt, newDeadline: extended.json().expiresAt };
    const read = async (as: string, operator: boolean) => {
      const reply = await api.send({ url: `/v1/orders/${order.id}/timeline`, as, operator });
      return orderTimeline.parse(reply.json()).events.filter(({ kind }) => kind === 'operator');
    };
    expect(await read('zoe', false)).toEqual([
      {
        at: expect.any(String),
        kind: 'operator',
        what: 'deadline moved by an operator',
        detail: { action: 'order.extend', ...moved },
      },
    ]);
    expect(await read('boss', true)).toMatchObject([
      { detail: { ...moved, operator: 'boss', reason: 'the bank was slow' } },
    ]);
  });
});

describe('an order', () => {
  it('is seen by its buyer and by an operator; for anyone else it is not there', async () => {
    const order = (await api.placeOrder(activityId, 'ann', 'k')).json();
    const absent = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';
    for (const path of ['', '/timeline']) {
      const read = (id: string, as: string, operator = false) =>
        api.send({ url: `/v1/orders/${id}${path}`, as, operator });
      expect((await read(order.id, 'ann')).statusCode).toBe(200);
      expect((await read(order.id, 'boss', true)).statusCode).toBe(200);
      const { instance: _theirs, ...theirs } = (await read(order.id, 'mallory')).json();
      const { instance: _nobodys, ...nobodys } = (await read(absent, 'mallory')).json();
      expect(theirs.code).toBe('ORDER_NOT_FOUND');
      expect(theirs).toEqual(nobodys);
    }
    const theft = await cancel(order.id, 'mallory');
    expect([theft.statusCode, theft.json().code]).toEqual([404, 'ORDER_NOT_FOUND']);
    expect((await api.orders.readOrder(order.id))?.status).toBe('PENDING');
  });

  it('that is cancelled gives its places back in both stores at once, and only once', async () => {
    const activity = await api.createActivity({ capacity: 3, quantityMax: 3 });
    const order = (await api.placeOrder(activity.id, 'ben', 'k', { quantity: 2 })).json();
    const replies = await Promise.all([1, 2, 3].map(() => cancel(order.id, 'ben')));
    for (const reply of replies) {
      expect([reply.statusCode, reply.json().status]).toEqual([200, 'CANCELLED']);
      expect(reply.json().closedAt).not.toBeNull();
    }
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 3, held: 0, users: 0 });
    const [row] = await queryDatabase(stores.mysqlUrl, 'SELECT available FROM activity WHERE id = ?', [
      activity.id,
    ]);
    expect(row?.available).toBe(3);
    expect(
      await queryDatabase(stores.mysqlUrl, "SELECT * FROM effect WHERE kind <> 'closed_notice'"),
    ).toEqual([]);
    expect((await api.placeOrder(activity.id, 'ben', 'k2')).statusCode).toBe(201);
  });

  it('that is paid can no longer be cancelled: 409', async () => {
    const order = (await api.placeOrder(activityId, 'cat', 'k')).json();
    await api.pay(paymentEvent(order));
    const reply = await cancel(order.id, 'cat');
    expect([reply.statusCode, reply.json().code]).toEqual([409, 'ORDER_NOT_PENDING']);
    expect((await api.orders.readOrder(order.id))?.status).toBe('PAID');
  });

  it('without a free Redis is cancelled all the same; the stock is left to the sweeper', async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'dan', 'k')).json();
    await stores.flushRedis();
    expect((await cancel(order.id, 'dan')).statusCode).toBe(200);
    const effects = await api.orders.listPendingEffects({ olderThanMs: 0, limit: 10 });
    expect(effects.map(({ kind, orderIds }) => [kind, orderIds])).toContainEqual(['release', [order.id]]);
  });
});

describe('the timeline of an order', () => {
  it('tells its creation and the message that was written for it', async () => {
    const fresh = await api.createActivity();
    const order = (await api.placeOrder(fresh.id, 'eve', 'k')).json();
    expect(await whatOf(order.id, 'eve')).toEqual([
      'transition: order placed, places held, waiting for payment',
      'message: reminder message written to the outbox',
    ]);
    const row = api.relayed.at(-1);
    const deliverAt = Date.parse(order.remindAt);
    await api.orders.markOutboxSent([{ id: row?.id ?? '', messageId: 'broker-1', deliverAt }]);
    const { events } = (await api.send({ url: `/v1/orders/${order.id}/timeline`, as: 'eve' })).json();
    expect(events.at(-1)).toMatchObject({
      kind: 'message',
      what: 'reminder message sent to RocketMQ',
      detail: { messageId: 'broker-1', deliverAt: order.remindAt, phase: 1 },
    });
  });

  it('tells payment, close and notices in plain words', async () => {
    const fresh = await api.createActivity();
    const paid = (await api.placeOrder(fresh.id, 'fay', 'k')).json();
    await api.pay(paymentEvent(paid));
    const paidWords = await whatOf(paid.id, 'fay');
    expect(paidWords).toContain('transition: paid');
    expect(paidWords).toContain('payment: payment received');

    const closed = (await api.placeOrder(fresh.id, 'gus', 'k')).json();
    await queryDatabase(
      stores.mysqlUrl,
      'UPDATE orders SET remind_at = NOW(3) - INTERVAL 2 SECOND, expires_at = NOW(3) + INTERVAL 60 SECOND WHERE id = UNHEX(?)',
      [closed.id.replaceAll('-', '')],
    );
    await api.orders.remindPending([closed.id]);
    await queryDatabase(
      stores.mysqlUrl,
      'UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 SECOND WHERE id = UNHEX(?)',
      [closed.id.replaceAll('-', '')],
    );
    await api.orders.closeExpired([closed.id], { cause: 'message' });
    const closedWords = await whatOf(closed.id, 'gus');
    expect(closedWords).toContain(
      'transition: closed: not paid in time, places given back (by its timeout message)',
    );
    expect(closedWords).toContain('message: close message written to the outbox');
    expect(closedWords).toContain('notification: reminder waiting to be delivered');
    expect(closedWords).toContain('stock: places still to be given back in Redis');
  });
});

describe('an order that was set aside', () => {
  it('shows its buyer that, but not the text of the error, which an operator sees; once it is settled, neither', async () => {
    const fresh = await api.createActivity();
    const order = (await api.placeOrder(fresh.id, 'hal', 'k')).json();
    const other = (await api.placeOrder(fresh.id, 'ida', 'k')).json();
    const hex = order.id.replaceAll('-', '');
    await queryDatabase(
      stores.mysqlUrl,
      `CREATE TRIGGER bad_order BEFORE UPDATE ON orders FOR EACH ROW
       IF NEW.id = X'${hex}' AND NEW.status <> 'PENDING' THEN
         SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret detail';
       END IF`,
    );
    await queryDatabase(
      stores.mysqlUrl,
      'UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 SECOND WHERE activity_id = ?',
      [fresh.id],
    );
    const closed = await api.orders.closeExpired([order.id, other.id], { cause: 'message' });
    await queryDatabase(stores.mysqlUrl, 'DROP TRIGGER bad_order');
    expect(closed.parked).toEqual([order.id]);

    const read = async (operator: boolean) => {
      const url = `/v1/orders/${order.id}/timeline`;
      const { body } = await api.send({ url, as: operator ? 'boss' : 'hal', operator });
      return {
        setAside: body.includes('set aside'),
        detail: body.includes('secret detail'),
        row: body.includes('parkedRow'),
      };
    };
    expect(await read(false)).toEqual({ setAside: true, detail: false, row: false });
    expect(await read(true)).toEqual({ setAside: true, detail: true, row: true });
    const [parked] = await api.orders.listParked({ orderId: order.id }, { afterId: 0, limit: 1 });
    const redriven = await api.send({
      method: 'POST',
      url: '/v1/ops/parked/redrive',
      as: 'boss',
      operator: true,
      body: { ids: [parked?.id], dryRun: false, reason: 'the trigger is gone' },
    });
    expect(redriven.json().outcomes).toMatchObject([{ kind: 'redriven', changed: true }]);
    for (const operator of [false, true]) {
      expect(await read(operator)).toEqual({ setAside: false, detail: false, row: false });
    }
  });
});
