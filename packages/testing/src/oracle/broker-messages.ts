import { consumerGroupOf, topicOf } from '@lapse/contracts';
import { brokerCodes, callBroker } from './call-broker.ts';
import type { Finding } from './verdict.ts';

export interface BrokerAddress {
  /** `host:port` of the name server. */
  readonly namesrv: string;
  readonly topicPrefix?: string;
}

/** A topic, and the group that must have read all of it. */
interface Reading {
  readonly what: string;
  readonly topic: string;
  readonly group: string;
}

/**
 * I11 in the broker: messages that their group has not acknowledged, those that are hidden while somebody has them
 * and those that come again among them; and dead letters that nobody took. A message that is not due yet is in none
 * of these topics: the broker keeps it aside.
 * @throws {Error} when the name server or a broker does not answer: then nothing is known.
 */
export async function findUnreadMessages({ namesrv, topicPrefix }: BrokerAddress): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const master of await findMasters(namesrv)) {
    for (const { what, topic, group } of readings(topicPrefix)) {
      const total = await countUnread(master, topic, group);
      if (total > 0) findings.push({ id: 'I11', says: `${what} in ${topic}`, total, orderIds: [] });
    }
  }
  return findings;
}

function readings(prefix = ''): Reading[] {
  return ([1, 2] as const).flatMap((phase) => {
    const topic = topicOf(phase, prefix);
    const group = consumerGroupOf(phase, prefix);
    const letters = `%DLQ%${group}`;
    const reader = `${group}-dead-letters`;
    return [
      { what: 'message not acknowledged', topic, group },
      // What was taken and not acknowledged in time comes again from a topic that the broker makes for it.
      { what: 'message not acknowledged', topic: `%RETRY%${group}_${topic}`, group },
      { what: 'dead letter that nobody parked', topic: letters, group: reader },
      { what: 'dead letter that nobody parked', topic: `%RETRY%${reader}_${letters}`, group: reader },
    ];
  });
}

/** The address under broker id 0 of each broker. The map has bare numbers for keys, so it is no JSON. */
async function findMasters(namesrv: string): Promise<string[]> {
  const { code, body } = await callBroker(namesrv, brokerCodes.clusterInfo);
  if (code !== 0) throw new Error(`RocketMQ at ${namesrv} does not name its brokers (code ${code}).`);
  const masters = [...body.matchAll(/[{,]"?0"?:"([^"]+:\d+)"/g)].flatMap(([, address]) => address ?? []);
  if (masters.length === 0) throw new Error(`RocketMQ at ${namesrv} knows no broker.`);
  return masters;
}

/** 0 when there is no such topic: nothing ever went there. */
async function countUnread(broker: string, topic: string, consumerGroup: string): Promise<number> {
  const config = await callBroker(broker, brokerCodes.topicConfig, { topic });
  if (config.code !== 0) return 0;
  const queues = Number(/"readQueueNums":(\d+)/.exec(config.body)?.[1] ?? 0);
  let total = 0;
  for (let queueId = 0; queueId < queues; queueId += 1) {
    const where = { topic, queueId };
    const end = await callBroker(broker, brokerCodes.maxOffset, where);
    const read = await callBroker(broker, brokerCodes.readOffset, {
      ...where,
      consumerGroup,
      setZeroIfNotFound: false,
    });
    const from = read.code === 0 ? read : await callBroker(broker, brokerCodes.minOffset, where);
    total += Math.max(0, Number(end.fields.offset ?? 0) - Number(from.fields.offset ?? 0));
  }
  return total;
}
