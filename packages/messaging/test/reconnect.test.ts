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
import { log, type TestConfig, testTopics } from './support.ts';
import { openTcpProxy } from './tcp-proxy.ts';

const outageMs = 12_000;
/** grpc-js alone: at 0, 1, 2.6, 5.2 and 9.3 s, each wait give or take a fifth; a sixth only just fits. */
const plainTriesMax = 6;
/** With the fix: the waits grow to 1 s, give or take a fifth. A busy machine loses one or two. */
const fixedTriesMin = 9;
const recoveryMsMax = 3_000;

/** A client whose way to the real broker can be shut. `stub` is what the library makes its channel with. */
async function openClient(config: TestConfig, stub: typeof generated.MessagingServiceClient) {
  const proxy = await openTcpProxy(config.endpoints);
  const options = clientOptions({ ...config, endpoints: proxy.address }, log);
  generated.MessagingServiceClient = stub;
  const client = new Producer(options);
  const ask = () => queryRoute(client, topicOf(1, config.topicPrefix), 1_000);
  await ask();
  installReconnect();
  return {
    proxy,
    ask,
    close: async () => {
      await closeClient(client);
      await proxy.close();
    },
  };
}

test('during an outage a client tries about once a second, and is back at once; without the fix it is not (control)', async () => {
  const config = await testTopics();
  installReconnect();
  const fixedStub = generated.MessagingServiceClient;
  const fixed = await openClient(config, fixedStub);
  const plain = await openClient(config, Object.getPrototypeOf(fixedStub));
  const both = [fixed, plain];
  try {
    for (const { proxy } of both) proxy.turnAway();
    const outage = AbortSignal.timeout(outageMs);
    const askAll = both.map(async ({ ask }) => {
      for (; !outage.aborted; await sleep(50)) await ask().catch(() => []);
    });
    await Promise.all(askAll);
    await expect(fixed.ask()).rejects.toThrow(/UNAVAILABLE/);
    const tries = both.map(({ proxy }) => proxy.turnedAway());
    for (const { proxy } of both) proxy.admit();

    const admittedAt = performance.now();
    await waitUntil(fixed.ask, { what: 'the client to be back', timeoutMs: 60_000 });
    const fixedMs = Math.round(performance.now() - admittedAt);
    process.stdout.write(
      `${outageMs} ms away: ${tries[0]} tries, without the fix ${tries[1]}; back in ${fixedMs} ms\n`,
    );
    expect(tries[0]).toBeGreaterThanOrEqual(fixedTriesMin);
    expect(tries[1]).toBeLessThanOrEqual(plainTriesMax);
    expect(fixedMs).toBeLessThan(recoveryMsMax);
  } finally {
    await Promise.all(both.map((client) => client.close()));
  }
}, 120_000);
