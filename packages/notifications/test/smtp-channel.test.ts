import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { createLogger, type NotifyConfig, readConfig } from '@lapse/runtime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { type DeliveryError, type Notice, openNotifier } from '../src/index.ts';
import { isMailAddress } from '../src/mail-address.ts';
import { openReceiver } from './receiver.ts';

const quiet = createLogger('test', 'silent');
const loopback = { allowPrivate: ['127.0.0.1'] };
const notice: Notice = {
  id: 1,
  stage: 'REMINDER',
  orderId: '01939000-0000-7000-8000-000000000001',
  activityId: 42,
  activityName: 'Gala',
  userId: 'ann@example.com',
  locale: 'en',
  quantity: 1,
  amountMinor: 129_900,
  currency: 'CNY',
  expiresAt: new Date('2026-11-29T12:15:00.123Z'),
  remainingMs: 299_900,
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Mail {
  readonly from: string;
  readonly to: string[];
  readonly raw: string;
}

/** A mail server on the loopback that keeps what it takes. */
async function openMailServer(options: SMTPServerOptions = {}) {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
        });
        done();
      });
    },
    ...options,
  });
  // A client that gives up resets its connection: that is what some tests are about.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  closers.push(() => new Promise((resolve) => server.close(() => resolve())));
  return { mails, port: (server.server.address() as AddressInfo).port };
}

function config(port: number, env: Record<string, string> = {}): NotifyConfig {
  return readConfig(
    {
      LAPSE_NOTIFY_CHANNEL: 'smtp',
      LAPSE_SMTP_URL: `smtp://127.0.0.1:${port}`,
      LAPSE_SMTP_FROM: 'Example Shop <orders@shop.example>',
      LAPSE_SMTP_TLS: 'off',
      ...env,
    },
    ['notify'],
  ).notify;
}

async function open(port: number, env: Record<string, string> = {}) {
  const notifier = await openNotifier(config(port, env), loopback, quiet);
  closers.push(notifier.close);
  return notifier;
}

async function failureOf(sending: Promise<void>): Promise<DeliveryError> {
  try {
    await sending;
  } catch (error) {
    return error as DeliveryError;
  }
  throw new Error('it was delivered');
}

/** The text of a mail with one plain part, decoded. */
function textOf({ raw }: Mail): string {
  const at = raw.indexOf('\r\n\r\n');
  const body = raw.slice(at + 4);
  if (/^content-transfer-encoding: base64/im.test(raw)) return Buffer.from(body, 'base64').toString('utf8');
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return /quoted-printable/i.test(raw) ? Buffer.from(bytes, 'latin1').toString('utf8') : body;
}

test('a mail reaches its buyer, in English and in Chinese, with one recipient and a lasting Message-ID', async () => {
  const { mails, port } = await openMailServer();
  const notifier = await open(port);
  await notifier.send(notice);
  await notifier.send({ ...notice, remainingMs: 1_000 });
  await notifier.send({ ...notice, stage: 'CLOSED', locale: 'zh-CN', activityName: '春季晚会' });
  expect(mails.map(({ from, to }) => [from, to])).toEqual(
    Array.from({ length: 3 }, () => ['orders@shop.example', ['ann@example.com']]),
  );
  const [english, again, chinese] = mails;
  if (!english || !again || !chinese) throw new Error('three were sent');
  expect(english.raw).toMatch(/^Subject: Your order for Gala closes in 4 min 59 sec\r$/m);
  expect(english.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(textOf(english)).toContain('Pay here: http://127.0.0.1:8080/pay/01939000');
  expect(textOf(chinese)).toContain('春季晚会');
  expect(textOf(chinese)).toContain('已自动关闭');
  const messageId = (mail: Mail) => /^Message-ID: (.*)\r$/im.exec(mail.raw)?.[1];
  expect(messageId(english)).toBe(`<reminder-${notice.orderId}@shop.example>`);
  expect(messageId(again)).toBe(messageId(english));
  expect(messageId(chinese)).not.toBe(messageId(english));
});

test.each([
  ['a busy mailbox (450)', 'RCPT TO', 450, undefined],
  ['an unknown mailbox (550)', 'RCPT TO', 550, true],
  ['a sender that is not welcome (550)', 'MAIL FROM', 550, undefined],
  ['a mail put off (451)', 'DATA', 451, undefined],
  ['a mail refused (554)', 'DATA', 554, true],
] as const)('%s is answered to %s: %d, for good: %s', async (_, command, code, permanent) => {
  const refusal = Object.assign(new Error('no'), { responseCode: code });
  const { port } = await openMailServer({
    ...(command === 'RCPT TO' && { onRcptTo: (_address, _session, done) => done(refusal) }),
    ...(command === 'MAIL FROM' && { onMailFrom: (_address, _session, done) => done(refusal) }),
    ...(command === 'DATA' && {
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', () => done(refusal));
      },
    }),
  });
  const error = await failureOf((await open(port)).send(notice));
  expect(error).toMatchObject({ code: 'LAPSE_NOTICE_NOT_DELIVERED', status: code });
  expect(error.permanent).toBe(permanent);
});

test('a wrong password is our own fault: tried again, and never told in the error', async () => {
  const { port } = await openMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(Object.assign(new Error('bad login'), { responseCode: 535 })),
  });
  const error = await failureOf(
    (await open(port, { LAPSE_SMTP_URL: `smtp://lapse:hunter2@127.0.0.1:${port}` })).send(notice),
  );
  expect(error).toMatchObject({ status: 535 });
  expect(error.permanent).toBeUndefined();
  expect(`${error.stack}`).not.toContain('hunter2');
});

test('a server that never greets, or stops in the middle, costs the time-out, no more', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => silent.close(() => resolve())));
  const { port: stuck } = await openMailServer({ onRcptTo: () => undefined });
  for (const port of [(silent.address() as AddressInfo).port, stuck]) {
    const error = await failureOf((await open(port, { LAPSE_NOTIFY_TIMEOUT: '300ms' })).send(notice));
    expect(error.message).toMatch(/300 ms|timeout|Greeting/i);
    expect(error.permanent).toBeUndefined();
  }
});

test('a server that drips an endless greeting costs the time-out too', async () => {
  const dripping = createServer((socket) => {
    socket.on('error', () => undefined);
    const timer = setInterval(() => socket.write('220-hold on\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => dripping.close(() => resolve())));
  const { port } = dripping.address() as AddressInfo;
  const error = await failureOf((await open(port, { LAPSE_NOTIFY_TIMEOUT: '300ms' })).send(notice));
  expect(error.permanent).toBeUndefined();
});

test('a dead server is a failure with its cause', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const error = await failureOf((await open(port)).send(notice));
  expect(error.message).toMatch(/^127\.0\.0\.1:\d+ did not take the mail/);
  expect(error.cause).toBeInstanceOf(Error);
});

test('without TLS nothing is sent unless that was said', async () => {
  const { mails, port } = await openMailServer();
  const error = await failureOf((await open(port, { LAPSE_SMTP_TLS: 'required' })).send(notice));
  expect(error.permanent).toBeUndefined();
  expect(mails).toEqual([]);
});

test('with STARTTLS a certificate that nobody vouches for is refused', async () => {
  // smtp-server brings a self-signed certificate of its own.
  const { mails, port } = await openMailServer({ disabledCommands: [] });
  const error = await failureOf((await open(port, { LAPSE_SMTP_TLS: 'required' })).send(notice));
  expect(error.message).toMatch(/self-signed|certificate/i);
  expect(mails).toEqual([]);
});

test('neither a name nor an address adds a header, a line or a recipient', async () => {
  const { mails, port } = await openMailServer();
  const notifier = await open(port);
  await notifier.send({ ...notice, activityName: 'Gala\r\nBcc: eve@example.com\r\n\r\nnew body \u2028 x' });
  expect(mails[0]?.to).toEqual(['ann@example.com']);
  expect(mails[0]?.raw.split('\r\n\r\n')[0]).not.toMatch(/^bcc:/im);
  for (const userId of [
    'ann@example.com,eve@example.com',
    'ann@example.com\r\nBcc: eve@example.com',
    'Ann <ann@example.com>',
    'ann@example.com>\r\nRCPT TO:<eve@example.com',
    'buyer-17',
    '@example.com',
    'ann@',
  ]) {
    expect(isMailAddress(userId)).toBe(false);
    const error = await failureOf(notifier.send({ ...notice, userId }));
    expect(error).toMatchObject({ permanent: true });
  }
  expect(mails).toHaveLength(1);
});

test('a directory is asked for the address, with its token; one that knows none ends the notice', async () => {
  const { mails, port } = await openMailServer();
  const answers: [number, string][] = [
    [200, '{"email":"bob@example.com"}'],
    [404, ''],
    [503, ''],
    [200, '{"email":"bob@example.com, eve@example.com"}'],
    [200, '{"email":null}'],
  ];
  const directory = await openReceiver((_, response) => {
    const [status, body] = answers.shift() ?? [500, ''];
    response.writeHead(status).end(body);
  });
  closers.push(directory.close);
  const notifier = await open(port, {
    LAPSE_SMTP_DIRECTORY_URL: `${new URL(directory.url).origin}/users/{userId}`,
    LAPSE_SMTP_DIRECTORY_TOKEN: 'a-token-of-the-directory',
  });
  const buyer = { ...notice, userId: '用户/1' };
  await notifier.send(buyer);
  expect(mails[0]?.to).toEqual(['bob@example.com']);
  expect(directory.requests[0]).toMatchObject({
    method: 'GET',
    path: `/users/${encodeURIComponent('用户/1')}`,
    headers: { authorization: 'Bearer a-token-of-the-directory' },
  });
  expect(await failureOf(notifier.send(buyer))).toMatchObject({ status: 404, permanent: true });
  const busy = await failureOf(notifier.send(buyer));
  expect(busy).toMatchObject({ status: 503 });
  expect(busy.permanent).toBeUndefined();
  expect(await failureOf(notifier.send(buyer))).toMatchObject({ permanent: true });
  expect(await failureOf(notifier.send(buyer))).toMatchObject({ permanent: true });
  expect(mails).toHaveLength(1);
});

test('a directory with a hiccup costs no notice: an answer that breaks off or is another one is asked for again', async () => {
  const { mails, port } = await openMailServer();
  const whole = '{"email":"bob@example.com"}';
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => {
      response.writeHead(200, { 'content-length': whole.length });
      response.write(whole.slice(0, 9), () => response.destroy());
    },
    // Begins to answer, and then says no more.
    (response) => response.writeHead(200, { 'content-length': whole.length }).write(whole.slice(0, 9)),
    (response) => response.writeHead(200).end('<html>be right back</html>'),
    (response) => response.writeHead(200).end('{"error":"too busy"}'),
    (response) => response.writeHead(200).end(whole),
  ];
  const directory = await openReceiver((_, response) => answers.shift()?.(response));
  closers.push(directory.close);
  const notifier = await open(port, {
    LAPSE_SMTP_DIRECTORY_URL: `${new URL(directory.url).origin}/users/{userId}`,
    LAPSE_NOTIFY_TIMEOUT: '500ms',
  });
  for (const _hiccup of [1, 2, 3, 4]) {
    const error = await failureOf(notifier.send(notice));
    expect(error.message).toContain('the directory did not answer');
    expect(error.permanent).toBeUndefined();
  }
  await notifier.send(notice);
  expect(mails.map(({ to }) => to)).toEqual([['bob@example.com']]);
});
