import { readFileSync } from 'node:fs';
import { topicOf } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { expect, test } from 'vitest';
import { decodeMessage } from '../src/decode-message.ts';
import { idsOf, recordTimeouts, sendRaw, testTopics } from './support.ts';

const folder = new URL('../../contracts/test/fixtures/version-1/', import.meta.url);
const bytesOf = (name: string): Buffer => readFileSync(new URL(name, folder));
const { orders } = JSON.parse(bytesOf('expected.json').toString());

test.each([
  ['message-phase-1.bytes', 1, orders],
  ['message-phase-2.bytes', 2, orders],
  ['message-phase-2-one-order.bytes', 2, orders.slice(0, 1)],
] as const)('%s of a process of version 1 is understood today', (name, phase, expected) => {
  expect(decodeMessage(bytesOf(name), phase)).toMatchObject({
    kind: 'decoded',
    message: { orders: expected },
  });
});

test('the same bytes with another version, another name or one field more are refused, with the reason', () => {
  const text = bytesOf('message-phase-2-one-order.bytes').toString();
  const decode = (changed: string) => decodeMessage(Buffer.from(changed), 2);
  expect(decode(text.replace('"version":1', '"version":2'))).toEqual({
    kind: 'refused',
    reason: 'version 2; this release reads version 1',
  });
  expect(decode(text.replaceAll('"dueTime"', '"dueAt"'))).toMatchObject({ kind: 'refused' });
  expect(decode(text.replace('"phase":2', '"phase":2,"shard":0'))).toMatchObject({ kind: 'refused' });
});

test('messages of version 1 reach the handler through the broker beside one of a version to come, which is parked', async () => {
  const config = await testTopics();
  const consumer = await recordTimeouts(config, 2);
  try {
    const bytes = bytesOf('message-phase-2.bytes');
    const tomorrow = Buffer.from(bytes.toString().replace('"version":1', '"version":2'));
    await sendRaw(config, 2, [tomorrow, bytes]);
    await waitUntil(() => consumer.handled.length >= orders.length && consumer.parked.length >= 1, {
      ...{ what: `both messages of ${topicOf(2, config.topicPrefix)}`, timeoutMs: 20_000 },
    });
    expect(idsOf(consumer.handled)).toEqual(idsOf(orders));
    // Whole, so that a process that knows the version can have it again.
    expect(consumer.parked.map(({ body }) => body)).toEqual([tomorrow]);
  } finally {
    await consumer.close();
  }
});
