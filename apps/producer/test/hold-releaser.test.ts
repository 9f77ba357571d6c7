import { sleep } from '@lapse/runtime';
import { openStock, type Stock } from '@lapse/stock';
import { createTestRedis, waitUntil } from '@lapse/testing';
import { expect, it } from 'vitest';
import { openHoldReleaser } from '../src/hold-releaser.ts';
import { openTcpGate } from './tcp-gate.ts';
import { log } from './test-api.ts';

const orderId = (n: number) => `019ad0c4-8b1e-7c3a-9f00-${String(n).padStart(12, '0')}`;

it('releases at once what it can, later what it must, and on close once more what is left', async () => {
  const redis = await createTestRedis();
  const gate = await openTcpGate(redis.url);
  const stock = await openStock({ url: gate.url, commandTimeoutMs: 500 }, log);
  const witness = await openStock({ url: redis.url, commandTimeoutMs: 500 }, log);
  const holds = openHoldReleaser({ stock, log });
  try {
    for (const activityId of [1, 2]) {
      const stockRunId = await witness.load(
        {
          activityId,
          generation: 1,
          capacity: 10,
          capacityVersion: 1,
          stock: 10,
          holds: [],
          formerBuyers: [],
        },
        '',
      );
      for (const n of [1, 2, 3]) {
        const id = orderId(activityId * 10 + n);
        await witness.reserve({
          activityId,
          generation: 1,
          stockRunId,
          orderId: id,
          userId: `u${n}`,
          quantity: 2,
        });
      }
    }
    await holds.release({ activityId: 1, orderId: orderId(11) });
    expect((await witness.readCounts(1))?.stock).toBe(6);

    await gate.shut();
    await holds.release({ activityId: 1, orderId: orderId(12) });
    await holds.release({ activityId: 2, orderId: orderId(21) });
    expect(holds.waiting()).toBeGreaterThan(0);
    await gate.open();
    await waitUntil(async () => (await witness.readCounts(1))?.stock === 8, {
      what: 'the first to be released',
    });
    await waitUntil(async () => (await witness.readCounts(2))?.stock === 6, {
      what: 'the second to be released',
    });

    // Released twice is released once.
    await holds.release({ activityId: 1, orderId: orderId(12) });
    expect(await witness.readCounts(1)).toMatchObject({ stock: 8, held: 2 });
  } finally {
    await holds.close();
    await stock.close();
    await witness.close();
    await gate.close();
    await redis.close();
  }
});

it('keeps no more holds than its bound, those in a try among them, however long Redis is away', async () => {
  const redis = await createTestRedis();
  const gate = await openTcpGate(redis.url);
  const stock = await openStock({ url: gate.url, commandTimeoutMs: 500 }, log);
  // Slow to fail, so that releases come while others are in a try.
  const slowly: Stock['release'] = async (...hold) => {
    await sleep(20);
    return stock.release(...hold);
  };
  const waitingMax = 4;
  const holds = openHoldReleaser({ stock: { release: slowly }, log, waitingMax });
  try {
    await gate.shut();
    let most = 0;
    for (let n = 1; n <= 40; n += 1) {
      await holds.release({ activityId: 1, orderId: orderId(n) });
      most = Math.max(most, holds.waiting());
    }
    expect(most).toBe(waitingMax);
  } finally {
    await holds.close();
    await stock.close();
    await gate.close();
    await redis.close();
  }
});
