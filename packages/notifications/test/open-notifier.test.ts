import type { RequestListener } from 'node:http';
import { createLogger, readConfig } from '@lapse/runtime';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { DeliveryError, type Notice, openNotifier } from '../src/index.ts';
import { openReceiver, type Receiver } from './receiver.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const loopback = { allowPrivate: ['127.0.0.1'] };
const quiet = createLogger('test', 'silent');

const notice: Notice = {
  id: 17,
  stage: 'REMINDER',
  orderId: '01939000-0000-7000-8000-000000000001',
  activityId: 42,
  activityName: '春季晚会 "Gala"',
  userId: '用户/1',
  locale: 'en',
  quantity: 1,
  amountMinor: 129_900,
  currency: 'CNY',
  expiresAt: new Date('2026-11-29T12:15:00.123Z'),
  remainingMs: 299_900.7,
};

const receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function openBoth(respond: RequestListener, timeout = '5s') {
  const receiver = await openReceiver(respond);
  receivers.push(receiver);
  return { receiver, notifier: await openNotifier(webhookConfig(receiver.url, timeout), loopback, quiet) };
}

function webhookConfig(url: string, timeout = '5s') {
  return readConfig(
    {
      LAPSE_NOTIFY_CHANNEL: 'webhook',
      LAPSE_NOTIFY_WEBHOOK_URL: url,
      LAPSE_NOTIFY_WEBHOOK_SECRET: secret,
      LAPSE_NOTIFY_TIMEOUT: timeout,
      LAPSE_PAY_URL: 'https://shop.example.com/pay/{orderId}?again={orderId}',
    },
    ['notify'],
  ).notify;
}

async function failureOf(sending: Promise<void>): Promise<DeliveryError> {
  const outcome = await sending.then(
    () => 'delivered',
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(DeliveryError);
  // Just checked.
  return outcome as DeliveryError;
}

const answer =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers).end();
  };

describe('the webhook channel', () => {
  test('posts JSON that the receiver can verify with the shared secret, and with no other', async () => {
    const { receiver, notifier } = await openBoth(answer(204));
    await notifier.send(notice);
    const [request] = receiver.requests;
    const headers = request?.headers as Record<string, string>;
    const body = new Webhook(secret).verify(request?.body ?? '', headers);
    expect(() => new Webhook(otherSecret).verify(request?.body ?? '', headers)).toThrow();
    expect(() => new Webhook(secret).verify(`${request?.body} `, headers)).toThrow();
    expect(request?.method).toBe('POST');
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual({
      type: 'notice.reminder',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        orderId: notice.orderId,
        userId: notice.userId,
        activityId: 42,
        activityName: notice.activityName,
        locale: 'en',
        quantity: 1,
        amountMinor: 129_900,
        currency: 'CNY',
        expiresAt: '2026-11-29T12:15:00.123Z',
        remainingMs: 299_900,
        payLink: `https://shop.example.com/pay/${notice.orderId}?again=${notice.orderId}`,
        subject: 'Your order for 春季晚会 "Gala" closes in 4 min 59 sec',
        text: expect.stringContaining(`Pay here: https://shop.example.com/pay/${notice.orderId}?again=`),
      },
    });
  });

  test('a notice of closing has its own type, and no link to pay', async () => {
    const { receiver, notifier } = await openBoth(answer(200));
    await notifier.send({ ...notice, stage: 'CLOSED' });
    const body = JSON.parse(receiver.requests[0]?.body ?? '');
    expect(body.type).toBe('notice.closed');
    expect(body.data).not.toHaveProperty('payLink');
    expect(receiver.requests[0]?.body).not.toContain('/pay/');
  });

  test('webhook-id stays the same over retries, and differs by order and by stage', async () => {
    const { receiver, notifier } = await openBoth(answer(200));
    await notifier.send(notice);
    await notifier.send({ ...notice, id: 99, remainingMs: 1_000 });
    await notifier.send({ ...notice, stage: 'CLOSED' });
    await notifier.send({ ...notice, orderId: '01939000-0000-7000-8000-000000000002' });
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
  });

  test.each([400, 404, 410, 500, 503])('an answer of %d is a failure with that status', async (status) => {
    const { notifier } = await openBoth(answer(status));
    expect(await failureOf(notifier.send(notice))).toMatchObject({
      status,
      code: 'LAPSE_NOTICE_NOT_DELIVERED',
    });
  });

  test.each([
    ['7', 7_000],
    ['0', 0],
    ['999999999999', 3_600_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
  ])('Retry-After: %s asks for %s ms, an hour at most', async (header, retryAfterMs) => {
    const { notifier } = await openBoth(answer(503, { 'retry-after': header }));
    expect((await failureOf(notifier.send(notice))).retryAfterMs).toBe(retryAfterMs);
  });

  test.each([301, 302, 307, 308])(
    'a redirect (%d) is not followed: the signed body goes nowhere else',
    async (status) => {
      const elsewhere = await openBoth(answer(200));
      const { receiver, notifier } = await openBoth(answer(status, { location: elsewhere.receiver.url }));
      expect(await failureOf(notifier.send(notice))).toMatchObject({ status });
      expect(receiver.requests).toHaveLength(1);
      expect(elsewhere.receiver.requests).toHaveLength(0);
    },
  );

  test('a receiver that never answers costs the time-out, no more', async () => {
    const { notifier } = await openBoth(() => {}, '150ms');
    const startedAt = performance.now();
    const error = await failureOf(notifier.send(notice));
    expect(error.message).toMatch(/^127\.0\.0\.1:\d+ did not answer within 150 ms$/);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('a 2xx counts though its body never ends: the notice must not go out twice', async () => {
    const { notifier } = await openBoth((_, response) => {
      response.writeHead(200);
      response.write('never ending');
    }, '150ms');
    await notifier.send(notice);
  });

  test('a huge answer is not read to its end', async () => {
    let sent = 0;
    const { notifier } = await openBoth((_, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const pump = () => {
        let room = true;
        while (room && sent < 500_000_000 && !response.destroyed) {
          room = response.write(chunk);
          sent += chunk.length;
        }
      };
      response.on('drain', pump);
      pump();
    });
    await notifier.send(notice);
    expect(sent).toBeLessThan(50_000_000);
  });

  test('a receiver that is away is a failure with its cause; the address beyond the host is not told', async () => {
    const { receiver, notifier } = await openBoth(answer(200));
    await receiver.close();
    const error = await failureOf(notifier.send(notice));
    expect(error.message).toMatch(/^127\.0\.0\.1:\d+ cannot be reached$/);
    expect(error.cause).toBeInstanceOf(Error);
    expect(`${error.stack}${(error.cause as Error).stack}`).not.toContain('hunter2');
  });

  test('a slow receiver delays its own notice only', async () => {
    let held = true;
    const { notifier } = await openBoth((_, response) => {
      if (!held) response.end();
      held = false;
    }, '2s');
    const slow = failureOf(notifier.send(notice));
    await Promise.all(Array.from({ length: 20 }, () => notifier.send(notice)));
    expect(await Promise.race([slow, Promise.resolve('still waiting')])).toBe('still waiting');
    await slow;
  });
});

describe('the log channel', () => {
  test('writes one structured line per notice, with what the buyer would read', async () => {
    const lines: string[] = [];
    const log = createLogger('reminder', 'info', { write: (line) => lines.push(line) });
    const notifier = await openNotifier(readConfig({}, ['notify']).notify, loopback, log);
    await notifier.send(notice);
    await notifier.send({ ...notice, stage: 'CLOSED', locale: 'zh' });
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      msg: 'notice to a buyer',
      notice: {
        id: 17,
        stage: 'REMINDER',
        orderId: notice.orderId,
        userId: notice.userId,
        subject: 'Your order for 春季晚会 "Gala" closes in 4 min 59 sec',
        text: expect.stringContaining(`http://127.0.0.1:8080/pay/${notice.orderId}`),
      },
    });
  });
});
