import { readdirSync, readFileSync } from 'node:fs';
import { openShop } from '@lapse/test-shop';
import { expect, test } from 'vitest';
import { crashPointsOf, effects, type ProcessName, reads } from '../src/effects.ts';

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
  for (const name of Object.keys(effects) as ProcessName[]) {
    const shares = texts.flatMap((text) => [
      ...text.matchAll(new RegExp(`killAtEveryPoint\\('${name}'(?:, { part: (\\d), of: (\\d) })?\\)`, 'g')),
    ]);
    const of = Number(shares[0]?.[2] ?? 1);
    const expected = Array.from({ length: of }, (_, index) => `${index + 1}/${of}`);
    expect(shares.map(([, part = '1', all = '1']) => `${part}/${all}`).sort()).toEqual(expected);
  }
});
