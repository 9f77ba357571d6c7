import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RocketmqBroker, startRocketmq } from '@lapse/local-services';
import { createTestAuthority, documentedLines, type TestAuthority, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createTopics,
  describeBroker,
  drainDeadLetters,
  openTimeoutSender,
  primeGroups,
} from '../src/index.ts';
import { idsOf, log, newMessage, newOrders, recordTimeouts, type TestConfig, testConfig } from './support.ts';

const admin = { accessKey: 'root', secretKey: 'root-of-this-test' };
const user = { accessKey: 'lapse', secretKey: 'PASSWORD' };

let dir: string;
let authority: TestAuthority;
let rocketmq: RocketmqBroker;
let config: TestConfig;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lapse-users-'));
  authority = createTestAuthority(dir);
  const tls = authority.issue('proxy', ['DNS:localhost', 'IP:127.0.0.1']);
  rocketmq = await startRocketmq({ dir: join(dir, 'rocketmq'), guards: { admin, tls }, log: () => {} });
  const { namesrv, ports } = rocketmq;
  config = { ...testConfig(), topicPrefix: '', endpoints: `localhost:${ports.grpc}`, namesrv };
  for (const line of documentedLines(/^mqadmin /)) {
    const [command = ''] = line.split(' #');
    const [, ...args] = command
      .trim()
      .replace('NAMESRV', namesrv)
      .replace('CLUSTER', 'DefaultCluster')
      .split(' ');
    await rocketmq.mqadmin(...args);
  }
  await createTopics({ ...config, ...admin }, log);
}, 180_000);

afterAll(async () => {
  rocketmq?.kill('SIGKILL');
  await rocketmq?.close();
  await rm(dir, { recursive: true, force: true });
}, 60_000);

/** Ten orders through the broker and acknowledged, so that nothing is left. */
async function sendAndReceive(given: TestConfig): Promise<void> {
  const sender = await openTimeoutSender(given, log);
  const consumer = await recordTimeouts(given, 2);
  const orders = newOrders(10, () => Date.now() + 500);
  await sender.send(newMessage(2, orders), Date.now());
  await waitUntil(() => idsOf(consumer.handled).length >= orders.length, { what: 'them', timeoutMs: 30_000 });
  await Promise.all([consumer.close(), sender.close()]);
  expect(idsOf(consumer.handled)).toEqual(idsOf(orders));
  const { topics } = await describeBroker(given, log);
  expect(topics?.map(({ unread }) => unread)).toEqual([0, 0]);
}

test('the user of the page sends, receives and acknowledges, drains dead letters, and may look; not make topics', async () => {
  await sendAndReceive({ ...config, ...user });
  await primeGroups({ ...config, ...user }, log);
  const letters = drainDeadLetters(
    { ...config, ...user },
    { phases: [1, 2], park: async () => undefined, log },
  );
  expect(await letters.drain(new AbortController().signal)).toBe(0);
  await letters.close();
  const another = { ...config, ...user, topicPrefix: 'another-' };
  await expect(createTopics(another, log)).rejects.toMatchObject({ code: 'LAPSE_ROCKETMQ_DENIED' });
});

test.each([
  ['a wrong secret', { accessKey: 'lapse', secretKey: 'hunter2' }],
  ['no login', {}],
])('%s is said to be refused, by everything that opens; and is not in what is said', async (_, login) => {
  const given = { ...config, ...login };
  for (const open of [
    () => openTimeoutSender(given, log),
    () => recordTimeouts(given, 2),
    () => createTopics(given, log),
    () => describeBroker(given, log),
  ]) {
    const failure: unknown = await open().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'LAPSE_ROCKETMQ_DENIED' });
    expect((failure as Error).message).toContain('LAPSE_ROCKETMQ_SECRET_KEY');
    expect((failure as Error).message).not.toContain('hunter2');
  }
  // By what the proxy says without a name server, `lapse doctor` knows what mends it.
  const { namesrv: _namesrv, ...proxyAlone } = given;
  const { routes } = await describeBroker(proxyAlone, log);
  expect(routes.map(({ fault }) => fault)).toEqual([expect.stringMatching(/40100|40300/), expect.anything()]);
});

test('all of it over TLS, with a CA of our own; a proxy of another CA, or of another name, is not spoken to', async () => {
  const tls = { ...config, ...user, tls: true, tlsCa: authority.ca };
  await sendAndReceive(tls);
  const other = createTestAuthority(dir, 'other').ca;
  // This machine by an address that the certificate does not name.
  const elsewhere = { ...tls, endpoints: `127.0.0.2:${rocketmq.ports.grpc}` };
  const { tlsCa: _own, ...publicCas } = tls;
  for (const given of [{ ...tls, tlsCa: other }, elsewhere, publicCas]) {
    const failure: unknown = await openTimeoutSender(given, log).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'LAPSE_ROCKETMQ_TLS' });
    expect((failure as Error).message).toContain('LAPSE_ROCKETMQ_TLS_CA_FILE');
    const { namesrv: _namesrv, ...proxyAlone } = given;
    const { routes } = await describeBroker(proxyAlone, log);
    expect(routes[0]?.fault).toMatch(/certificate|altnames/);
  }
});

test('negative control: without the right to a group its consumer is refused', async () => {
  const groups = 'Group:order-closer';
  const where = ['-n', rocketmq.namesrv, '-c', 'DefaultCluster', '-s', 'User:lapse'];
  await rocketmq.mqadmin('deleteAcl', ...where, '-r', groups);
  await expect(recordTimeouts({ ...config, ...user }, 2)).rejects.toMatchObject({
    code: 'LAPSE_ROCKETMQ_DENIED',
  });
});
