import { readdirSync, readFileSync } from 'node:fs';
import { openShop } from '@lapse/test-shop';
import { expect, test } from 'vitest';
import { crashPointsOf, effects, type ProcessName, reads } from '../src/effects.ts';
import { parts } from './kill-at-every-point.ts';

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
  const points = (Object.keys(effects) as ProcessName[]).flatMap(crashPointsOf);
  process.stdout.write(`crash points: ${points.length}\n`);
  expect(points.length).toBeGreaterThanOrEqual(30);
});

test('every point of every process has a file that kills it there', () => {
  const texts = readdirSync(import.meta.dirname)
    .filter((name) => /^crash-.*\.test\.ts$/.test(name))
    .map((name) => readFileSync(`${import.meta.dirname}/${name}`, 'utf8'));
  const named = new Set(texts.flatMap((text) => text.match(/killAtEveryPoint\('\w+', \d\)/) ?? []));
  const wanted = Object.keys(effects).flatMap((name) =>
    Array.from({ length: parts }, (_, index) => `killAtEveryPoint('${name}', ${index + 1})`),
  );
  expect([...named].sort()).toEqual(wanted.sort());
});
