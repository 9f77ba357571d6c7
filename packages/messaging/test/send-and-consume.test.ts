import { waitUntil } from '@lapse/testing';
import { expect, test } from 'vitest';
import { sendOutboxRows } from '../src/send-outbox-rows.ts';
import { openTimeoutSender } from '../src/timeout-sender.ts';
import {
  idsOf,
  latenessOf,
  log,
  newOrders,
  newRow,
  percentile,
  recordTimeouts,
  testTopics,
} from './support.ts';

/** Far above what an idle machine shows (p99 below 10 ms): it only catches a broken timer. */
const latenessMsMax = 2_000;

test('each order reaches the handler once, at its own millisecond and never before', async () => {
  const config = await testTopics();
  const sender = await openTimeoutSender(config, log);
  const consumer = await recordTimeouts(config, 2);
  try {
    const dueAt = Date.now() + 3_000;
    const rows = Array.from({ length: 20 }, (_, row) =>
      newRow(
        2,
        newOrders(25, (index) => dueAt + row * 40 + index * 37),
      ),
    );
    const orders = rows.flatMap((row) => row.orders);
    const { sent, failed } = await sendOutboxRows(sender, rows, { closeLeadMs: 1_500, dueWindowMs: 1_000 });
    expect(failed).toEqual([]);
    expect(sent.map((row) => row.id).sort()).toEqual(rows.map((row) => row.id).sort());
    expect(new Set(sent.map((row) => row.messageId)).size, 'messages').toBeLessThan(5);

    await waitUntil(() => consumer.handled.length >= orders.length, { what: 'every order to be handled' });
    expect(idsOf(consumer.handled)).toEqual(idsOf(orders));
    const lateness = latenessOf(consumer.handled, orders);
    expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateness)).toBeLessThan(latenessMsMax);
    process.stdout.write(
      `lateness of ${orders.length} orders, ms: p50 ${percentile(lateness, 0.5)}, p99 ${percentile(lateness, 0.99)}, max ${Math.max(...lateness)}\n`,
    );
    expect(consumer.inHand()).toBe(0);
  } finally {
    await Promise.all([consumer.close(), sender.close()]);
  }
});
