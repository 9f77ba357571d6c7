import type { RocketmqConfig } from '@lapse/runtime';
import { MessagingError } from './messaging-error.ts';
import { callRemoting, type RemotingAnswer, requestCodes, responseCodes } from './remoting.ts';
import { denied, messageOf } from './start-client.ts';

const queuesPerTopic = 8;
/** As many as the broker itself gives a dead-letter topic. */
const queuesPerDeadLetterTopic = 1;
/** Of a group that the broker made by itself. */
const brokersRetryMaxTimes = 16;
/** Read and write. */
const permission = 6;
const requestMsMax = 5_000;
/** The broker keeps a topic's type among its attributes, under this name. */
const typeAttribute = 'message.type';

export interface BrokerAdmin {
  /** Addresses of every master the name server knows. */
  findMasters(): Promise<string[]>;
  /** @returns whether it was new. @throws LAPSE_TOPICS_REFUSED when it exists with another type. */
  createDelayTopic(master: string, topic: string): Promise<boolean>;
  /** The topic that the broker would create with the first dead letter. @returns whether it was new. */
  createDeadLetterTopic(master: string, topic: string): Promise<boolean>;
  /** `retryMaxTimes`: deliveries after the first, before a message is a dead letter. @returns whether it was new. */
  createGroup(master: string, group: string, retryMaxTimes: number): Promise<boolean>;
  /** @returns null when there is no such topic, or group. */
  readTopicType(master: string, topic: string): Promise<string | null>;
  hasGroup(master: string, group: string): Promise<boolean>;
  /** Let a group begin at the oldest message of every queue it never read. Never moves one that has. */
  setFirstOffsets(master: string, topic: string, group: string): Promise<void>;
  /** Messages of a topic that a group has not acknowledged; 0 when there is no such topic. */
  countUnread(master: string, topic: string, group: string): Promise<number>;
  /** Whether the name server tells clients where the topic is. */
  isRouted(topic: string): Promise<boolean>;
}

type Fields = Record<string, string | number | boolean>;
type Call = (address: string, code: number, fields?: Fields, body?: unknown) => Promise<RemotingAnswer>;

/** What RocketMQ's administrator's tool would do, as far as two topics and two groups need it. */
export function openBrokerAdmin(
  config: Pick<RocketmqConfig, 'namesrv' | 'accessKey' | 'secretKey'>,
): BrokerAdmin {
  const namesrvs = (config.namesrv ?? '').split(';').filter((address) => address !== '');
  const { accessKey, secretKey } = config;
  const credentials = accessKey && secretKey ? { accessKey, secretKey } : undefined;

  const call: Call = async (address, code, fields = {}, body) => {
    try {
      const answer = await callRemoting({
        ...{ address, code, fields, body, timeoutMs: requestMsMax, credentials },
      });
      // Not "there is none": an operator would make again what is there.
      if (answer.code === responseCodes.noPermission) {
        throw denied(`request ${code} at ${address}`, new Error(answer.remark));
      }
      return answer;
    } catch (cause) {
      if (cause instanceof MessagingError) throw cause;
      const hint = 'The name server and every broker it names must be reachable from here.';
      throw new MessagingError('LAPSE_TOPICS_TIMEOUT', `RocketMQ at ${messageOf(cause)}. ${hint}`, { cause });
    }
  };

  /** Name servers know the same: the first that answers will do. */
  async function callNamesrv(code: number, fields?: Fields): Promise<RemotingAnswer> {
    let last: unknown;
    for (const address of namesrvs) {
      try {
        return await call(address, code, fields);
      } catch (error) {
        last = error;
      }
    }
    if (last !== undefined) throw last;
    throw new MessagingError(
      'LAPSE_TOPICS_NAMESRV',
      'Set LAPSE_ROCKETMQ_NAMESRV: topics are created through the name server.',
    );
  }

  return {
    findMasters: async () =>
      mastersOf(accept(await callNamesrv(requestCodes.clusterInfo), 'list its brokers')),
    isRouted: async (topic) =>
      (await callNamesrv(requestCodes.topicRoute, { topic })).code === responseCodes.success,
    createDelayTopic: (master, topic) => createDelayTopic(call, master, topic),
    createDeadLetterTopic: (master, topic) => createDeadLetterTopic(call, master, topic),
    createGroup: (master, group, retryMaxTimes) => createGroup(call, master, group, retryMaxTimes),
    readTopicType: async (master, topic) => {
      const answer = await call(master, requestCodes.topicConfig, { topic });
      return answer.code === responseCodes.success ? typeOf(answer.body) : null;
    },
    hasGroup: async (master, group) =>
      (await call(master, requestCodes.groupConfig, { group })).code === responseCodes.success,
    countUnread: (master, topic, group) => countUnread(call, master, topic, group),
    setFirstOffsets: (master, topic, group) => setFirstOffsets(call, master, topic, group),
  };
}

async function createDelayTopic(call: Call, master: string, topic: string): Promise<boolean> {
  const existing = await call(master, requestCodes.topicConfig, { topic });
  if (existing.code === responseCodes.success) {
    const type = typeOf(existing.body);
    if (type === 'DELAY') return false;
    throw new MessagingError(
      'LAPSE_TOPICS_REFUSED',
      `Topic ${topic} exists with type ${type}, but must be DELAY. Delete it, or set LAPSE_ROCKETMQ_TOPIC_PREFIX.`,
    );
  }
  await updateTopic(call, master, topic, queuesPerTopic, 'DELAY');
  return true;
}

async function createDeadLetterTopic(call: Call, master: string, topic: string): Promise<boolean> {
  const existing = await call(master, requestCodes.topicConfig, { topic });
  if (existing.code === responseCodes.success) return false;
  await updateTopic(call, master, topic, queuesPerDeadLetterTopic, 'NORMAL');
  return true;
}

async function updateTopic(
  call: Call,
  master: string,
  topic: string,
  queues: number,
  type: 'DELAY' | 'NORMAL',
): Promise<void> {
  const answer = await call(master, requestCodes.updateTopic, {
    topic,
    defaultTopic: 'TBW102',
    readQueueNums: queues,
    writeQueueNums: queues,
    perm: permission,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
    attributes: `+${typeAttribute}=${type}`,
  });
  accept(answer, `create topic ${topic}`);
}

async function createGroup(
  call: Call,
  master: string,
  group: string,
  retryMaxTimes: number,
): Promise<boolean> {
  // By default a broker creates the group that it is asked about, with its own limit: that is not an operator's.
  const existing = await call(master, requestCodes.groupConfig, { group });
  const known = (existing.body as { retryMaxTimes?: number } | undefined)?.retryMaxTimes;
  const isSet = known === retryMaxTimes || known !== brokersRetryMaxTimes;
  if (existing.code === responseCodes.success && isSet) return false;
  const body = {
    groupName: group,
    consumeEnable: true,
    consumeFromMinEnable: true,
    consumeBroadcastEnable: false,
    consumeMessageOrderly: false,
    retryQueueNums: 1,
    retryMaxTimes,
    brokerId: 0,
    whichBrokerWhenConsumeSlowly: 1,
    notifyConsumerIdsChangedEnable: true,
  };
  accept(await call(master, requestCodes.updateGroup, {}, body), `create consumer group ${group}`);
  return true;
}

async function setFirstOffsets(call: Call, master: string, topic: string, group: string): Promise<void> {
  const config = accept(await call(master, requestCodes.topicConfig, { topic }), `describe topic ${topic}`);
  const queues = Number((config as { readQueueNums?: number }).readQueueNums ?? queuesPerTopic);
  for (let queueId = 0; queueId < queues; queueId += 1) {
    const where = { topic, queueId, consumerGroup: group };
    const known = await call(master, requestCodes.queryConsumerOffset, {
      ...where,
      setZeroIfNotFound: false,
    });
    if (known.code === responseCodes.success) continue;
    const oldest = await call(master, requestCodes.minOffset, { topic, queueId });
    accept(oldest, `tell the oldest message of ${topic}`);
    const commitOffset = Number(oldest.fields.offset ?? 0);
    accept(
      await call(master, requestCodes.updateConsumerOffset, { ...where, commitOffset }),
      `set the first offset of ${group}`,
    );
  }
}

async function countUnread(call: Call, master: string, topic: string, group: string): Promise<number> {
  const config = await call(master, requestCodes.topicConfig, { topic });
  if (config.code !== responseCodes.success) return 0;
  const queues = Number((config.body as { readQueueNums?: number }).readQueueNums ?? 0);
  let total = 0;
  for (let queueId = 0; queueId < queues; queueId += 1) {
    const [end, read, start] = await Promise.all([
      call(master, requestCodes.maxOffset, { topic, queueId }),
      call(master, requestCodes.queryConsumerOffset, {
        topic,
        queueId,
        consumerGroup: group,
        setZeroIfNotFound: false,
      }),
      call(master, requestCodes.minOffset, { topic, queueId }),
    ]);
    const from = read.code === responseCodes.success ? read : start;
    total += Math.max(0, Number(end.fields.offset ?? 0) - Number(from.fields.offset ?? 0));
  }
  return total;
}

function accept(answer: RemotingAnswer, what: string): unknown {
  if (answer.code === responseCodes.success) return answer.body;
  throw new MessagingError(
    'LAPSE_TOPICS_REFUSED',
    `RocketMQ refused to ${what}: ${answer.remark} (code ${answer.code})`,
  );
}

function typeOf(topicConfig: unknown): string {
  const { attributes } = (topicConfig ?? {}) as { attributes?: Record<string, string> };
  return attributes?.[typeAttribute] ?? 'NORMAL';
}

/** Broker id 0 is the master; slaves take no change. */
function mastersOf(clusterInfo: unknown): string[] {
  const { brokerAddrTable = {} } = (clusterInfo ?? {}) as {
    brokerAddrTable?: Record<string, { brokerAddrs?: Record<string, string> }>;
  };
  return Object.values(brokerAddrTable).flatMap(({ brokerAddrs }) => brokerAddrs?.['0'] ?? []);
}
