import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startRocketmq, supervise } from '../src/index.ts';
import { exchange } from '../src/probe.ts';
import { isBrokerRegistered, isProxyServing } from '../src/probe-rocketmq.ts';
import { identifyProcess } from '../src/process-identity.ts';
import { testFolder } from './test-folder.ts';
import { waitUntil } from './wait-until.ts';

const createTopicCode = 17;

/** Create a topic on the broker over the remoting protocol, as the messaging package does. */
async function createTopic(brokerPort: number, topic: string): Promise<void> {
  const header = JSON.stringify({
    code: createTopicCode,
    language: 'OTHER',
    version: 0,
    opaque: 1,
    flag: 0,
    extFields: {
      topic,
      defaultTopic: 'TBW102',
      readQueueNums: '2',
      writeQueueNums: '2',
      perm: '6',
      topicFilterType: 'SINGLE_TAG',
      topicSysFlag: '0',
      order: 'false',
      attributes: '+message.type=DELAY',
    },
  });
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + header.length, 0);
  lengths.writeUInt32BE(header.length, 4);
  const answer = await exchange(
    brokerPort,
    Buffer.concat([lengths, Buffer.from(header)]),
    (bytes) => bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0),
  );
  expect(answer?.toString('utf8')).toContain('"code":0');
}

test('a killed broker comes back with its topics, and a stop leaves no process', {
  timeout: 120_000,
}, async () => {
  const dir = testFolder();
  const rocketmq = await startRocketmq({ dir, log: () => {}, timerPrecisionMs: 100 });
  onTestFinished(() => rocketmq.stop());
  const { grpc = 0, nameServer = 0, broker = 0 } = rocketmq.ports;
  expect(rocketmq).toMatchObject({ endpoints: `127.0.0.1:${grpc}`, namesrv: `127.0.0.1:${nameServer}` });
  expect(await isProxyServing(grpc)).toBe(true);
  await createTopic(broker, 'seats');
  // The key of its certificate is in its own folder, not in one that everybody reads.
  expect(readdirSync(join(dir, 'home', 'tmp'))).toContainEqual(expect.stringMatching(/^keyutil_.*\.key$/));

  const events: string[] = [];
  const supervisor = supervise(rocketmq, {
    onDown: (_service, exit) => events.push(`${exit.program} ${exit.signal}`),
    onUp: () => events.push('up'),
  });
  const [nameServerPid] = rocketmq.pids;
  rocketmq.kill('SIGKILL', 'broker');
  await waitUntil(
    'the name server forgets the broker',
    async () => !(await isBrokerRegistered(nameServer, `127.0.0.1:${broker}`)),
  );
  await waitUntil('the broker is back', () => events.length === 2, 60_000);
  expect(events).toEqual(['broker SIGKILL', 'up']);
  // Only what had died was started again.
  expect(rocketmq.pids[0]).toBe(nameServerPid);
  expect(await isBrokerRegistered(nameServer, `127.0.0.1:${broker}`)).toBe(true);
  expect(readFileSync(join(dir, 'store', 'config', 'topics.json'), 'utf8')).toContain('"seats"');

  const pids = rocketmq.pids;
  await rocketmq.stop();
  supervisor.stop();
  expect(pids).toHaveLength(2);
  expect(pids.map((pid) => identifyProcess(pid))).toEqual([undefined, undefined]);
});
