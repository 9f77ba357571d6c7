import { setTimeout as sleep } from 'node:timers/promises';
import { topicOf } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { Producer } from 'rocketmq-client-nodejs';
import generated from 'rocketmq-client-nodejs/proto/apache/rocketmq/v2/service_grpc_pb.js';
import { expect, test } from 'vitest';
import { clientOptions } from '../src/client-options.ts';
import { closeClient } from '../src/close-client.ts';
import { queryRoute } from '../src/query-route.ts';
import { installReconnect } from '../src/reconnect.ts';
import { log, testTopics } from './support.ts';
import { openTcpProxy } from './tcp-proxy.ts';

/**
 * grpc-js alone tries again after 1, 1.6, 2.6, 4.1, 6.6 and 10.5 s, each give or take a fifth: the fifth
 * try is over by 19.0 s at the latest, the sixth comes at 21.0 s at the earliest, and at 26 s as a rule.
 */
const outageMs = 20_000;
/** The longest wait between two tries, 1 s and a fifth, and a busy machine. */
const recoveryMsMax = 3_000;

test('after an outage a client is back within moments; without the fix it is not (control)', async () => {
  const config = await testTopics();
  const topic = topicOf(1, config.topicPrefix);
  const proxy = await openTcpProxy(config.endpoints);
  const options = clientOptions({ ...config, endpoints: proxy.address }, log);

  const fixed = new Producer(options);
  await queryRoute(fixed, topic, 3_000);
  const withFix = generated.MessagingServiceClient;
  generated.MessagingServiceClient = Object.getPrototypeOf(withFix);
  const plain = new Producer(options);
  await queryRoute(plain, topic, 3_000);
  installReconnect();
  expect(generated.MessagingServiceClient).toBe(withFix);

  async function recovery(client: Producer): Promise<number> {
    const startedAt = performance.now();
    await waitUntil(() => queryRoute(client, topic, 1_000), {
      what: 'the client to reach the proxy',
      timeoutMs: 60_000,
      everyMs: 50,
    });
    return Math.round(performance.now() - startedAt);
  }
  async function keepAsking(client: Producer, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await queryRoute(client, topic, 1_000).catch(() => []);
      await sleep(100);
    }
  }

  try {
    await proxy.cut();
    const outage = AbortSignal.timeout(outageMs);
    await Promise.all([fixed, plain].map((client) => keepAsking(client, outage)));
    await expect(queryRoute(fixed, topic, 1_000)).rejects.toThrow(/UNAVAILABLE|ECONNREFUSED/);
    await proxy.restore();
    const [fixedMs, plainMs] = await Promise.all([recovery(fixed), recovery(plain)]);
    process.stdout.write(`after ${outageMs} ms away: back in ${fixedMs} ms, without the fix ${plainMs} ms\n`);
    expect(fixedMs).toBeLessThan(recoveryMsMax);
    expect(plainMs).toBeGreaterThan(fixedMs);
  } finally {
    await Promise.all([closeClient(fixed), closeClient(plain)]);
    await proxy.close();
  }
}, 120_000);
