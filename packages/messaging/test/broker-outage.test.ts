import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRocketmq } from '@lapse/local-services';
import { createLogger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTopics } from '../src/create-topics.ts';
import { openTimeoutSender } from '../src/timeout-sender.ts';
import { idsOf, latenessOf, log, newMessage, newOrders, recordTimeouts, testConfig } from './support.ts';

/** On top of the time that the broker takes to start again. */
const awayMs = 8_000;
/** Back-off of at most 1 s, and the broker's own start of its timer. */
const recoveryMsMax = 15_000;
/** The proxy reads a route again after 1 s, and whoever asks then still gets the old one. */
const routeForgottenMsMax = 10_000;
/** A client has some ten timers. A leak doubled its streams each second of an outage: 256 of them by now. */
const timersMax = 60;

let dir: string;
let rocketmq: Awaited<ReturnType<typeof startRocketmq>>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lapse-messaging-'));
  rocketmq = await startRocketmq({ dir, log: () => {} });
}, 120_000);

afterAll(async () => {
  await rocketmq.close();
  await rm(dir, { recursive: true, force: true });
}, 60_000);

test('a broker killed with orders pending loses none; workers wait quietly and go on by themselves', async () => {
  const config = { ...testConfig(), endpoints: rocketmq.endpoints, namesrv: rocketmq.namesrv };
  await createTopics(config, log);
  const lines: string[] = [];
  const heard = createLogger('worker', 'info', { write: (line: string) => void lines.push(line) });
  const sender = await openTimeoutSender(config, log);
  const consumer = await recordTimeouts(config, 2, { log: heard });

  const sentAt = Date.now();
  const orders = newOrders(60, (index) => sentAt + 4_000 + index * 500);
  for (let from = 0; from < orders.length; from += 5) {
    const message = newMessage(2, orders.slice(from, from + 5));
    await sender.send(message, message.dueTime);
  }
  rocketmq.kill('SIGKILL', 'broker');
  await sleep(awayMs); // the outage itself
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  await expect(
    sender.send(
      newMessage(
        2,
        newOrders(1, () => Date.now()),
      ),
      Date.now(),
    ),
  ).rejects.toThrow();
  await expect(sender.ping()).rejects.toThrow();
  expect(consumer.isConnected()).toBe(false);

  await rocketmq.start();
  const backAt = Date.now();
  const probe = newMessage(
    2,
    newOrders(1, () => Date.now()),
  );
  await waitUntil(() => sender.send(probe, Date.now()), {
    what: 'a send to succeed',
    timeoutMs: recoveryMsMax,
  });
  const sendMs = Date.now() - backAt;
  const expected = idsOf([...orders, ...probe.orders]);
  await waitUntil(() => new Set(idsOf(consumer.handled)).size >= expected.length, {
    what: 'every order to be handled',
    timeoutMs: recoveryMsMax + 40_000,
  });
  await Promise.all([consumer.close(), sender.close()]);

  expect([...new Set(idsOf(consumer.handled))]).toEqual(expected);
  for (const lateMs of latenessOf(consumer.handled, [...orders, ...probe.orders])) {
    expect(lateMs).toBeGreaterThanOrEqual(0);
  }
  const firstMs = Math.min(...consumer.handled.map(({ at }) => at).filter((at) => at > backAt)) - backAt;
  expect(firstMs).toBeLessThan(recoveryMsMax);
  expect(timers.length).toBeLessThan(timersMax);
  expect(lines.filter((line) => line.includes('fails; trying again'))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('works again'))).toHaveLength(1);
  process.stdout.write(`broker back: first send after ${sendMs} ms, first order after ${firstMs} ms\n`);
}, 150_000);

test('a topic that was asked for before it was there is served as soon as it is: the proxy forgets that it was not', async () => {
  const config = { ...testConfig(), endpoints: rocketmq.endpoints, namesrv: rocketmq.namesrv };
  await expect(openTimeoutSender(config, log)).rejects.toThrow(/has no topic/);
  const startedAt = performance.now();
  await createTopics(config, log);
  const servedMs = performance.now() - startedAt;
  const sender = await openTimeoutSender(config, log);
  await sender.close();
  process.stdout.write(`a topic that was missed is served after ${Math.round(servedMs)} ms\n`);
  // By itself the proxy would say for 20 s that there is none.
  expect(servedMs).toBeLessThan(routeForgottenMsMax);
}, 60_000);
