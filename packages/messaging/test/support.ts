import { randomBytes } from 'node:crypto';
import {
  type OutboxRow,
  type Phase,
  type TimeoutMessage,
  type TimeoutOrder,
  topicOf,
} from '@lapse/contracts';
import { createLogger, type Logger } from '@lapse/runtime';
import { testRocketmq, testTopicPrefix } from '@lapse/testing';
import { Producer } from 'rocketmq-client-nodejs';
import { clientOptions } from '../src/client-options.ts';
import { closeClient } from '../src/close-client.ts';
import { type ConsumeOptions, consumeTimeouts } from '../src/consume-timeouts.ts';
import { createTopics } from '../src/create-topics.ts';
import type { DueOrder } from '../src/due-queue.ts';
import type { HandleResult } from '../src/handle-due.ts';
import type { ParkedMessage } from '../src/parked-message.ts';

/** 'debug' shows what the client says. */
export const log: Logger = createLogger('messaging-test', 'silent');

export function testConfig() {
  return {
    ...testRocketmq(),
    topicPrefix: testTopicPrefix(),
    tls: false,
    // Longer than the default: a send that a busy machine delays is sent again, and then delivered twice.
    requestTimeoutMs: 10_000,
    receiveLoops: 4,
    awaitMs: 5_000,
    invisibleMs: 30_000,
    ordersHeldMax: 100_000,
    closeTimeoutMs: 10_000,
    shutdownTimeoutMs: 15_000,
  };
}
export type TestConfig = ReturnType<typeof testConfig>;

/** Configuration with topics and groups of its own, ready for use. */
export async function testTopics(): Promise<TestConfig> {
  const config = testConfig();
  await createTopics(config, log);
  return config;
}

/** A UUID version 7 of now. */
export function newId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function newOrder(dueTime: number, over: Partial<TimeoutOrder> = {}): TimeoutOrder {
  return { orderId: newId(), activityId: 42, userId: 'user-1', createTime: Date.now(), dueTime, ...over };
}

export function newOrders(count: number, dueTime: (index: number) => number): TimeoutOrder[] {
  return Array.from({ length: count }, (_, index) => newOrder(dueTime(index)));
}

export function newMessage(phase: Phase, orders: TimeoutOrder[]): TimeoutMessage {
  return { version: 1, phase, dueTime: Math.min(...orders.map((order) => order.dueTime)), orders };
}

export function newRow(phase: Phase, orders: TimeoutOrder[]): OutboxRow {
  return { id: newId(), phase, orders };
}

/** Put any bytes on a topic, to be delivered at once: what our own sender would refuse. */
export async function sendRaw(config: TestConfig, phase: Phase, bodies: (Buffer | string)[]): Promise<void> {
  const producer = new Producer({
    ...clientOptions(config, log),
    topics: [topicOf(phase, config.topicPrefix)],
  });
  await producer.startup();
  try {
    for (const body of bodies) {
      await producer.send({
        topic: topicOf(phase, config.topicPrefix),
        body: Buffer.from(body),
        deliveryTimestamp: new Date(),
      });
    }
  } finally {
    await closeClient(producer);
  }
}

export interface Handled {
  readonly order: DueOrder;
  readonly at: number;
  readonly batch: number;
}

/** A consumer that writes down what reached it. */
export async function recordTimeouts(config: TestConfig, phase: Phase, over: Partial<ConsumeOptions> = {}) {
  const handled: Handled[] = [];
  const parked: ParkedMessage[] = [];
  const rearmed: DueOrder[] = [];
  let batches = 0;

  function record(orders: readonly DueOrder[]): void {
    const at = Date.now();
    batches += 1;
    handled.push(...orders.map((order) => ({ order, at, batch: batches })));
  }

  const consumer = await consumeTimeouts(config, {
    phase,
    batchMax: 1_000,
    now: Date.now,
    log,
    handle: async (orders): Promise<HandleResult> => {
      record(orders);
      return { retry: [] };
    },
    rearm: async (orders) => {
      rearmed.push(...orders);
    },
    park: async (message) => {
      parked.push(message);
    },
    ...over,
  });
  return { ...consumer, handled, parked, rearmed, record };
}

export function idsOf(orders: readonly (DueOrder | Handled)[]): string[] {
  return orders.map((item) => ('order' in item ? item.order.orderId : item.orderId)).sort();
}

/** When each of these is due, by its id: a consumer hands over no more of an order. */
export function dueTimesOf(orders: readonly TimeoutOrder[]): ReadonlyMap<string, number> {
  return new Map(orders.map(({ orderId, dueTime }) => [orderId, dueTime]));
}

/** How long after its time each was handled, in ms. `orders` are all that were sent. */
export function latenessOf(handled: readonly Handled[], orders: readonly TimeoutOrder[]): number[] {
  const dueTimes = dueTimesOf(orders);
  return handled.map(({ order, at }) => at - (dueTimes.get(order.orderId) ?? Number.NaN));
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
