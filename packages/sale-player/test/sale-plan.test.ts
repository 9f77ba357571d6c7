import { describe, expect, it } from 'vitest';
import { mixedShares, planSale } from '../src/sale-plan.ts';

describe('the plan of a sale', () => {
  const shape = {
    buyers: 1_000,
    activities: [
      { name: 'Evening', capacity: 400 },
      { name: 'Matinee', capacity: 300 },
    ],
    shares: mixedShares,
    rushMs: 6_000,
    secondWaveAtMs: 22_000,
  };
  const { activities, buyers } = planSale(shape);
  const share = (behaviour: string) => buyers.filter((buyer) => buyer.behaviour === behaviour).length / 1_000;

  it('has a third who pay, a tenth who cancel, a tenth at the last moment; the rest lapse', () => {
    expect(share('pay')).toBeCloseTo(0.3);
    expect(share('cancel')).toBeCloseTo(0.1);
    expect(share('pay-at-deadline')).toBeCloseTo(0.1);
    expect(share('lapse')).toBeCloseTo(0.5);
  });

  it('asks for more places than there are in the first rush, in each activity', () => {
    for (const [index, { capacity }] of activities.entries()) {
      const rush = buyers.filter(({ activity, arriveAtMs }) => activity === index && arriveAtMs < 6_000);
      expect(rush.length).toBeGreaterThan(capacity);
    }
  });

  it('gives every buyer a name of their own', () => {
    expect(new Set(buyers.map(({ userId }) => userId)).size).toBe(1_000);
  });

  it('has nobody come back later when there is no second wave', () => {
    expect(
      Math.max(
        ...planSale({ ...shape, secondWaveAtMs: undefined }).buyers.map(({ arriveAtMs }) => arriveAtMs),
      ),
    ).toBeLessThanOrEqual(6_000);
  });
});
