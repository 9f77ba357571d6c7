import { openShop } from '@lapse/test-shop';
import { expect, test } from 'vitest';
import { crashPointsOf, effects, reads } from '../src/effects.ts';

test('every operation of the stores is a known effect with crash points, or is known to change nothing', async () => {
  const shop = await openShop();
  try {
    const known = new Set([...Object.values(effects).flat(), ...Object.keys(reads)]);
    const operations = [
      ...Object.keys(shop.orders).map((name) => `orders.${name}`),
      ...Object.keys(shop.stock).map((name) => `stock.${name}`),
    ];
    expect(operations.filter((name) => !known.has(name))).toEqual([]);
    // Nothing is listed that is not there any more.
    const listed = [...known].filter((name) => /^(orders|stock)\./.test(name));
    expect(listed.filter((name) => !operations.includes(name))).toEqual([]);
  } finally {
    await shop.close();
  }
});

test('at least 30 places where a process is killed', () => {
  const points = (Object.keys(effects) as (keyof typeof effects)[]).flatMap(crashPointsOf);
  process.stdout.write(`crash points: ${points.length}\n`);
  expect(points.length).toBeGreaterThanOrEqual(30);
});
