import { topicOf } from '@lapse/contracts';
import { createTopics } from '@lapse/messaging';
import type { Command } from '../command.ts';
import { topicsShape } from '../shapes/schema.ts';

/** `lapse topics apply`: what exists is left as it is. */
export const applyTopics: Command = async (context) => {
  const { rocketmq } = context.config('rocketmq');
  context.progress('creating topics and groups …');
  await createTopics(rocketmq, context.log);
  const topics = ([1, 2] as const).map((phase) => topicOf(phase, rocketmq.topicPrefix));
  return { shape: topicsShape, data: { topics }, text: `served, with their groups: ${topics.join(', ')}` };
};
