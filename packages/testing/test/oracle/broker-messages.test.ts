import { consumerGroupOf, topicOf } from '@lapse/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { testRocketmq, testTopicPrefix } from '../../src/index.ts';
import { findUnreadMessages } from '../../src/oracle/broker-messages.ts';
import { brokerCodes, callBroker } from '../../src/oracle/call-broker.ts';

/** What changes something: only the test needs these. */
const codes = { send: 10, writeOffset: 15, createTopic: 17, createGroup: 200 } as const;
const { namesrv } = testRocketmq();
let broker = '';
let topicPrefix = '';

async function accept(
  code: number,
  fields: Record<string, string | number | boolean>,
  body?: string,
): Promise<void> {
  const answer = await callBroker(broker, code, fields, body);
  expect({ code, answered: answer.code }).toEqual({ code, answered: 0 });
}

const createTopic = (topic: string) =>
  accept(codes.createTopic, {
    ...{ topic, defaultTopic: 'TBW102', readQueueNums: 2, writeQueueNums: 2, perm: 6 },
    ...{ topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false },
  });
const createGroup = (groupName: string) => accept(codes.createGroup, {}, JSON.stringify({ groupName }));
const send = (topic: string, queueId: number) =>
  accept(
    codes.send,
    {
      ...{ producerGroup: 'oracle', topic, defaultTopic: 'TBW102', defaultTopicQueueNums: 2, queueId },
      ...{ sysFlag: 0, bornTimestamp: Date.now(), flag: 0, properties: '', reconsumeTimes: 0 },
      ...{ unitMode: false, batch: false },
    },
    'a message',
  );
const read = (topic: string, consumerGroup: string, queueId: number, commitOffset: number) =>
  accept(codes.writeOffset, { topic, consumerGroup, queueId, commitOffset });
const find = async () =>
  (await findUnreadMessages({ namesrv, topicPrefix })).map(({ says, total }) => `${total} × ${says}`);

beforeEach(async () => {
  topicPrefix = testTopicPrefix();
  const { body } = await callBroker(namesrv, brokerCodes.clusterInfo);
  broker = /[{,]"?0"?:"([^"]+)"/.exec(body)?.[1] ?? '';
});

describe('the oracle in the broker', () => {
  it('finds nothing where nothing was ever sent', async () => {
    expect(await find()).toEqual([]);
  });

  it('counts messages that their group has not read, and finds nothing once it has', async () => {
    const topic = topicOf(2, topicPrefix);
    const group = consumerGroupOf(2, topicPrefix);
    await createTopic(topic);
    await createGroup(group);
    await read(topic, group, 0, 0);
    await send(topic, 0);
    await send(topic, 1);
    await send(topic, 1);
    expect(await find()).toEqual([`3 × message not acknowledged in ${topic}`]);
    await read(topic, group, 0, 1);
    expect(await find()).toEqual([`2 × message not acknowledged in ${topic}`]);
    await read(topic, group, 1, 2);
    expect(await find()).toEqual([]);
  });

  it('counts what comes again, and dead letters that nobody took', async () => {
    const group = consumerGroupOf(1, topicPrefix);
    const again = `%RETRY%${group}_${topicOf(1, topicPrefix)}`;
    const letters = `%DLQ%${group}`;
    await createTopic(again);
    await createTopic(letters);
    await send(again, 0);
    await send(letters, 0);
    expect(await find()).toEqual([
      `1 × message not acknowledged in ${again}`,
      `1 × dead letter that nobody parked in ${letters}`,
    ]);
    await createGroup(group);
    await createGroup(`${group}-dead-letters`);
    await read(again, group, 0, 1);
    await read(letters, `${group}-dead-letters`, 0, 1);
    expect(await find()).toEqual([]);
  });

  it('is an error, not a clean bill, when no name server answers', async () => {
    await expect(findUnreadMessages({ namesrv: '127.0.0.1:1' })).rejects.toThrow('RocketMQ at 127.0.0.1:1');
  });
});
