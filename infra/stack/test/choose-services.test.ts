import { describe, expect, test } from 'vitest';
import { chooseServices, type Machine } from '../src/choose-services.ts';

/** A machine that has every program and no engine, unless said otherwise. */
function machine(found: { missing?: readonly string[]; compose?: boolean } = {}): Machine {
  return {
    missingPrograms: async () => found.missing ?? [],
    composeAnswers: async () => found.compose ?? false,
  };
}

const given = {
  LAPSE_MYSQL_URL: 'mysql://a@db:3306/lapse',
  LAPSE_REDIS_URL: 'redis://cache:6379',
  LAPSE_ROCKETMQ_ENDPOINTS: 'broker:8081',
};

describe('the order of choice', () => {
  test('what the environment gives is used, and only the rest is brought up', async () => {
    const { LAPSE_REDIS_URL } = given;
    expect(await chooseServices('auto', { LAPSE_REDIS_URL }, machine())).toEqual({
      given: { redisUrl: LAPSE_REDIS_URL },
      wanted: ['mysql', 'rocketmq'],
      how: 'local',
    });
    expect((await chooseServices('external', given, machine({ missing: ['java'] }))).wanted).toEqual([]);
  });

  test('an empty variable gives nothing', async () => {
    expect((await chooseServices('auto', { LAPSE_REDIS_URL: '' }, machine())).wanted).toContain('redis');
  });

  test('local instances come before containers, containers before installing', async () => {
    expect((await chooseServices('auto', {}, machine({ compose: true }))).how).toBe('local');
    expect((await chooseServices('auto', {}, machine({ missing: ['java'], compose: true }))).how).toBe(
      'compose',
    );
    expect((await chooseServices('auto', {}, machine({ missing: ['java'] }))).how).toBe('install');
  });

  test('--services=local installs rather than take containers', async () => {
    expect((await chooseServices('local', {}, machine({ missing: ['java'], compose: true }))).how).toBe(
      'install',
    );
  });
});

test('a forced choice that cannot be met says what is needed', async () => {
  const partly = { LAPSE_REDIS_URL: given.LAPSE_REDIS_URL };
  await expect(chooseServices('external', partly, machine())).rejects.toThrow(
    'needs LAPSE_MYSQL_URL, LAPSE_ROCKETMQ_ENDPOINTS',
  );
  await expect(chooseServices('compose', {}, machine())).rejects.toThrow('docker info');
});
