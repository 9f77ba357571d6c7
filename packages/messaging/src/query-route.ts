import type { BaseClient } from 'rocketmq-client-nodejs';
import { StatusChecker } from 'rocketmq-client-nodejs';
import definitions from 'rocketmq-client-nodejs/proto/apache/rocketmq/v2/definition_pb.js';
import pb from 'rocketmq-client-nodejs/proto/apache/rocketmq/v2/service_pb.js';

/**
 * Ask the proxy where a topic is, past every cache of the client. The client need not be started.
 * @returns the names of the brokers that serve it.
 * @throws the client's error: code 40402 means that the topic does not exist.
 */
export async function queryRoute(client: BaseClient, topic: string, timeoutMs: number): Promise<string[]> {
  const request = new pb.QueryRouteRequest();
  request.setTopic(new definitions.Resource().setName(topic));
  request.setEndpoints(client.getEndpoints().toProtobuf());
  const answer = await client.getRpcClientManager().queryRoute(client.getEndpoints(), request, timeoutMs);
  StatusChecker.check(answer.getStatus()?.toObject());
  const names = answer.getMessageQueuesList().map((queue) => queue.getBroker()?.getName() ?? '');
  return [...new Set(names)];
}
