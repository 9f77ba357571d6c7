import { describe, expect, it } from 'vitest';
import { createFakeClock, testTopicPrefix, testVariable } from '../src/index.ts';

describe('the environment of tests', () => {
  it('says what to run when an address is absent, and never falls back to a default', () => {
    expect(() => testVariable('LAPSE_TEST_MYSQL_URL', {})).toThrow(
      /LAPSE_TEST_MYSQL_URL is not set.*npm test -- --only <package>/,
    );
    expect(() => testVariable('LAPSE_TEST_REDIS_URL', { LAPSE_TEST_REDIS_URL: '' })).toThrow(
      /LAPSE_TEST_REDIS_URL is not set/,
    );
  });

  it('gives topic prefixes that a broker accepts and that do not repeat', () => {
    const prefixes = Array.from({ length: 1_000 }, () => testTopicPrefix());
    expect(new Set(prefixes).size).toBe(1_000);
    for (const prefix of prefixes) expect(prefix).toMatch(/^t-[a-z0-9]{8}-$/);
  });

  it('has a clock that only the test moves', () => {
    const clock = createFakeClock(1_000);
    clock.advance(500);
    expect(clock.now()).toBe(1_500);
    clock.set(7);
    expect(clock.now()).toBe(7);
  });
});
