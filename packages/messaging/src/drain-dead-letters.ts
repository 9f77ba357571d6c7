import { consumerGroupOf, deadLetterGroupOf, deadLetterTopicOf, type Phase } from '@lapse/contracts';
import { type Closable, type Logger, type RocketmqConfig, workInLanes } from '@lapse/runtime';
import { type MessageView, Producer, type SimpleConsumer } from 'rocketmq-client-nodejs';
import { clientOptions } from './client-options.ts';
import { closeClient } from './close-client.ts';
import { decodeMessage } from './decode-message.ts';
import { deadLettersParked } from './metrics.ts';
import { awaitMsMin, openConsumer } from './open-consumer.ts';
import type { ParkedMessage } from './parked-message.ts';
import { queryRoute } from './query-route.ts';
import { isTopicMissing, messageOf } from './start-client.ts';

/** Each is parked by a statement of its own, well within the invisible time of all of them. */
const lettersPerPollMax = 16;
/** One that cannot be parked holds up no other. */
const parkedAtOnceMax = 4;
/** A dead letter that could not be parked is there again after this. */
const invisibleMs = 30_000;
/** Order ids named in the alert; the parked row has all of them. */
const idsLoggedMax = 20;

export interface DeadLetterOptions {
  readonly phases: readonly Phase[];
  /** Keep a dead letter durably. A throw leaves it in the broker. Idempotent by id and body. */
  readonly park: (message: ParkedMessage) => Promise<void>;
  readonly log: Logger;
}

export interface DeadLetterDrain extends Closable {
  /**
   * Park and acknowledge every dead letter that is there, and return when none is: after a poll of 5 s that
   * brought nothing. Ends early when the signal aborts, after the poll in flight. Calls must not overlap.
   * @returns how many were parked.
   * @throws the first fault of the broker or the store, once what else the same poll brought is parked, or cannot be.
   */
  readonly drain: (signal: AbortSignal) => Promise<number>;
}

/**
 * Reads the dead-letter topics of the workers' groups, each with a consumer group of its own, so that what
 * the broker gave up on ends in the same table as everything else that wants a person.
 *
 * Whether a topic is there is one route query; a client is opened once it is, and kept. Until the first dead
 * letter a broker has no such topic, unless `createTopics` made it, which also gives the group its first
 * offset: without one a new group may begin behind the oldest letters.
 */
export function drainDeadLetters(config: RocketmqConfig, options: DeadLetterOptions): DeadLetterDrain {
  const { phases, log } = options;
  const consumers = new Map<Phase, SimpleConsumer>();
  // Never started: it only asks where topics are.
  let prober: Producer | undefined;

  async function findBrokers(topic: string): Promise<string[]> {
    prober ??= new Producer(clientOptions(config, log));
    try {
      return await queryRoute(prober, topic, config.requestTimeoutMs);
    } catch (error) {
      if (isTopicMissing(error)) return [];
      throw new Error(`RocketMQ did not say whether there are dead letters: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async function consumerOf(phase: Phase, topic: string): Promise<SimpleConsumer> {
    const known = consumers.get(phase);
    if (known) return known;
    const group = deadLetterGroupOf(phase, config.topicPrefix);
    const opened = await openConsumer(config, { topic, group, awaitMs: awaitMsMin, log });
    consumers.set(phase, opened);
    return opened;
  }

  async function drainPhase(phase: Phase, signal: AbortSignal): Promise<number> {
    const topic = deadLetterTopicOf(phase, config.topicPrefix);
    const brokers = await findBrokers(topic);
    if (brokers.length === 0 || signal.aborted) return 0;
    const consumer = await consumerOf(phase, topic);
    for (let total = 0; ; ) {
      // The client takes the brokers in turn, so as many polls as brokers reach each of them.
      const polls = await Promise.allSettled(
        brokers.map(() => consumer.receive(lettersPerPollMax, invisibleMs)),
      );
      const letters = polls.flatMap((poll) => (poll.status === 'fulfilled' ? poll.value : []));
      const unkept: unknown[] = [];
      await workInLanes(letters, parkedAtOnceMax, async (view) => {
        try {
          await keep(consumer, phase, view, config.topicPrefix, options);
        } catch (error) {
          unkept.push(error);
        }
      });
      if (unkept.length > 0) throw unkept[0];
      total += letters.length;
      const failed = polls.find((poll) => poll.status === 'rejected');
      if (failed) throw new Error(`dead letters of ${topic} could not be read`, { cause: failed.reason });
      if (letters.length === 0 || signal.aborted) return total;
    }
  }

  return {
    drain: async (signal) => {
      const drained = await Promise.allSettled(phases.map((phase) => drainPhase(phase, signal)));
      const failed = drained.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      return drained.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0);
    },
    close: async () => {
      for (const client of [...consumers.values(), prober]) if (client) await closeClient(client);
      consumers.clear();
      prober = undefined;
    },
  };
}

async function keep(
  consumer: SimpleConsumer,
  phase: Phase,
  view: MessageView,
  prefix: string,
  { park, log }: DeadLetterOptions,
): Promise<void> {
  const { messageId, body } = view;
  const group = consumerGroupOf(phase, prefix);
  const reason = `delivered to ${group} as often as that group allows, and never acknowledged`;
  await park({ messageId, phase, reason, body });
  deadLettersParked.inc({ phase });
  const decoded = decodeMessage(body, phase);
  const ids = decoded.kind === 'decoded' ? decoded.message.orders.map(({ orderId }) => orderId) : [];
  log.error(
    { messageId, group, orders: ids.length, orderIds: ids.slice(0, idsLoggedMax) },
    'parked a dead letter: its orders are left to the sweeps, and a person should see why',
  );
  try {
    await consumer.ack(view);
  } catch (error) {
    log.debug({ messageId, reason: messageOf(error) }, 'a dead letter comes again and is parked already');
  }
}
