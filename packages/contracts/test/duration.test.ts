import { describe, expect, it } from 'vitest';
import { delayLevelsMs, durationMs, parseDurationMs } from '../src/index.ts';

/** As RocketMQ 4.x documents messageDelayLevel, word for word. */
const classicLevels = '1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h'.split(' ');

describe('the 18 delay levels of RocketMQ 4.x', () => {
  it('are all known, and no other', () => {
    expect(delayLevelsMs).toHaveLength(18);
    expect(classicLevels).toHaveLength(18);
    expect(parseDurationMs('level:0')).toBeUndefined();
    expect(parseDurationMs('level:19')).toBeUndefined();
  });

  it.each(classicLevels.map((text, index) => [index + 1, text] as const))('level:%d is %s', (level, text) => {
    expect(parseDurationMs(`level:${level}`)).toBe(parseDurationMs(text));
    expect(parseDurationMs(`level:${level}`)).toBe(delayLevelsMs[level - 1]);
  });

  it('put the reminder at 14 (10 minutes) and the close at 9 (5 minutes); 13 is 9 minutes', () => {
    expect([14, 9, 13].map((level) => parseDurationMs(`level:${level}`))).toEqual([
      600_000, 300_000, 540_000,
    ]);
  });
});

describe('parseDurationMs', () => {
  it.each([
    [600_000, 600_000],
    ['600000', 600_000],
    ['600000ms', 600_000],
    ['10m', 600_000],
    [' 90s ', 90_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    [0, 0],
  ])('reads %j as %d ms', (input, ms) => {
    expect(parseDurationMs(input)).toBe(ms);
  });

  it.each([
    '',
    'soon',
    '10 m',
    '-5s',
    -5,
    '1e3',
    '0x10',
    'Infinity',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '0.0001ms',
    '999999999999999d',
    'level:',
    'level:1.5',
    'Level:14',
    '10m5s',
    1.5,
  ])('refuses %j rather than guess', (input) => {
    expect(parseDurationMs(input)).toBeUndefined();
  });
});

describe('durationMs', () => {
  const schema = durationMs(1_000, 60_000, 'A test.');

  it('comes out as whole milliseconds', () => {
    expect([schema.parse('1m'), schema.parse(1_000), schema.parse('level:2')]).toEqual([
      60_000, 1_000, 5_000,
    ]);
  });

  it.each([999, '61s', 'level:18'])('refuses %j, which is out of its range', (input) => {
    expect(schema.safeParse(input).success).toBe(false);
  });

  it.each([
    ['61s', 'must be at most 1 minute'],
    [999, 'must be at least 1 second'],
  ])('says the limit that %j breaks in words', (input, message) => {
    expect(schema.safeParse(input).error?.issues.map((issue) => issue.message)).toEqual([message]);
  });

  it.each([
    [2_592_000_000, '30 days'],
    [600_000, '10 minutes'],
    [5_400_000, '90 minutes'],
    [500, '500 milliseconds'],
  ])('names a limit of %d ms as a person would: %s', (maxMs, words) => {
    const fault = durationMs(0, maxMs, 'A test.').safeParse(maxMs + 1).error?.issues[0]?.message;
    expect(fault).toBe(`must be at most ${words}`);
  });

  it.each(['soon', true, null, {}, []])('says what a duration looks like when given %j', (input) => {
    expect(schema.safeParse(input).error?.issues[0]?.message).toContain('level:14');
  });
});
