import { expect, test } from 'vitest';
import { median, ratioByRound, summarise } from '../src/statistics.ts';

test('the median is the middle one, or the mean of the two in the middle, whatever their order', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([7])).toBe(7);
  expect(median([])).toBeNaN();
});

test('the spread says how far apart the rounds lie, as a share of the median', () => {
  expect(summarise([90, 110, 100])).toEqual({ median: 100, min: 90, max: 110, spread: 0.2 });
  expect(summarise([5])).toEqual({ median: 5, min: 5, max: 5, spread: 0 });
  expect(summarise([])).toBeUndefined();
});

test('a ratio is taken within each round: a machine that is twice as slow in one round does not change it', () => {
  const lapse = [900, 450, 920];
  const limit = [1_000, 500, 1_000];
  expect(ratioByRound(lapse, limit)?.median).toBeCloseTo(0.9);
  expect(ratioByRound(lapse, limit)?.spread).toBeLessThan(0.03);
});

test('a round in which one of the two has no figure has no ratio', () => {
  expect(ratioByRound([900, undefined, 800], [1_000, 1_000, undefined])).toMatchObject({
    median: 0.9,
    max: 0.9,
  });
  expect(ratioByRound([900], [])).toBeUndefined();
  expect(ratioByRound([900], [0])).toBeUndefined();
});
