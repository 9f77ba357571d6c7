import { topicOf } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { describe, expect, test } from 'vitest';
import { openBrokerAdmin } from '../src/broker-admin.ts';
import { createTopics } from '../src/create-topics.ts';
import { describeBroker } from '../src/describe-broker.ts';
import { openConsumer } from '../src/open-consumer.ts';
import { primeGroups } from '../src/prime-groups.ts';
import { callRemoting, parseLooseJson, requestCodes } from '../src/remoting.ts';
import { openTimeoutSender } from '../src/timeout-sender.ts';
import {
  idsOf,
  log,
  newMessage,
  newOrders,
  recordTimeouts,
  sendRaw,
  testConfig,
  testTopics,
} from './support.ts';

describe('the topics', () => {
  test('exist after createTopics, for both phases, and a second call changes nothing', async () => {
    const config = testConfig();
    await createTopics(config, log);
    await createTopics(config, log);
    const admin = openBrokerAdmin(config);
    const [master] = await admin.findMasters();
    for (const phase of [1, 2] as const) {
      const topic = topicOf(phase, config.topicPrefix);
      expect(await admin.isRouted(topic)).toBe(true);
      const answer = await callRemoting({
        address: master ?? '',
        code: requestCodes.topicConfig,
        fields: { topic },
        timeoutMs: 3_000,
      });
      expect(answer.body).toMatchObject({ attributes: { 'message.type': 'DELAY' }, writeQueueNums: 8 });
    }
  });

  test('are described as they are: absent, of another type, or served; asking makes no topic', async () => {
    const config = testConfig();
    const absent = await describeBroker(config, log);
    expect(absent.topics?.map(({ type, hasGroup, unread }) => ({ type, hasGroup, unread }))).toEqual([
      { type: null, hasGroup: expect.any(Boolean), unread: 0 },
      { type: null, hasGroup: expect.any(Boolean), unread: 0 },
    ]);
    expect(absent.routes.every(({ fault }) => fault !== null)).toBe(true);
    const again = await describeBroker(config, log);
    expect(again.topics?.map(({ type }) => type)).toEqual([null, null]);
    // The proxy remembers for 20 s that a topic is not there; topics of another prefix are asked for the first time.
    const served = testConfig();
    await createTopics(served, log);
    const made = await describeBroker(served, log);
    expect(made.topics?.map(({ type, hasGroup, dead }) => ({ type, hasGroup, dead }))).toEqual([
      { type: 'DELAY', hasGroup: true, dead: 0 },
      { type: 'DELAY', hasGroup: true, dead: 0 },
    ]);
    expect(made.routes.map(({ fault }) => fault)).toEqual([null, null]);
  });

  test('may be created by many processes at once', async () => {
    const config = testConfig();
    await Promise.all([1, 2, 3, 4].map(() => createTopics(config, log)));
  });

  test('are refused when one exists with another type, with what to do about it', async () => {
    const config = testConfig();
    const [master] = await openBrokerAdmin(config).findMasters();
    await callRemoting({
      address: master ?? '',
      code: requestCodes.updateTopic,
      fields: {
        topic: topicOf(1, config.topicPrefix),
        defaultTopic: 'TBW102',
        readQueueNums: 1,
        writeQueueNums: 1,
        perm: 6,
        topicFilterType: 'SINGLE_TAG',
        topicSysFlag: 0,
        order: false,
        attributes: '+message.type=NORMAL',
      },
      timeoutMs: 3_000,
    });
    await expect(createTopics(config, log)).rejects.toMatchObject({
      code: 'LAPSE_TOPICS_REFUSED',
      message: expect.stringContaining('exists with type NORMAL'),
    });
  });

  test('cannot be created without a name server, and the error says so', async () => {
    const { namesrv: _, ...config } = testConfig();
    await expect(createTopics(config, log)).rejects.toMatchObject({ code: 'LAPSE_TOPICS_NAMESRV' });
  });

  test('that are missing are named by sender and consumer at start-up', async () => {
    const config = testConfig();
    await expect(openTimeoutSender(config, log)).rejects.toMatchObject({
      code: 'LAPSE_TOPIC_MISSING',
      // A command that there is: what npm start runs before its first process creates them.
      message: expect.stringContaining('npm start -- --no-apps, with LAPSE_ROCKETMQ_ENDPOINTS'),
    });
    await expect(recordTimeouts(config, 2)).rejects.toMatchObject({ code: 'LAPSE_TOPIC_MISSING' });
  });
});

describe('a consumer group', () => {
  test('that does not exist ends start-up in its time, with what to do about it', async () => {
    const config = await testTopics();
    const opening = openConsumer(config, {
      topic: topicOf(1, config.topicPrefix),
      group: `${config.topicPrefix}absent`,
      awaitMs: 5_000,
      log,
    });
    await expect(opening).rejects.toMatchObject({
      code: 'LAPSE_ROCKETMQ_START',
      message: expect.stringContaining('consumer groups exist'),
    });
  }, 60_000);

  test('keeps its place when the topics are created again: nothing comes twice, nothing is skipped', async () => {
    const config = await testTopics();
    const send = async () => {
      const message = newMessage(
        2,
        newOrders(3, () => Date.now()),
      );
      await sendRaw(config, 2, [JSON.stringify(message)]);
      return idsOf(message.orders);
    };
    const first = await recordTimeouts(config, 2);
    const before = await send();
    await waitUntil(() => first.handled.length >= 3, { what: 'the first orders' });
    await first.close();
    const between = await send();
    await createTopics(config, log);
    const second = await recordTimeouts(config, 2);
    await waitUntil(() => second.handled.length >= 3, { what: 'the second orders' });
    await second.close();
    expect(idsOf(first.handled)).toEqual(before);
    expect(idsOf(second.handled)).toEqual(between);
  });

  test('can be primed through the proxy alone', async () => {
    const config = await testTopics();
    await primeGroups(config, log);
  });
});

test('bare numbers as keys of JSON are read, and numbers inside strings stay', () => {
  expect(parseLooseJson('{"a":{0:"x:1",-1:"{2:3}"},"b":[{1 :null}]}')).toEqual({
    a: { '0': 'x:1', '-1': '{2:3}' },
    b: [{ '1': null }],
  });
});
