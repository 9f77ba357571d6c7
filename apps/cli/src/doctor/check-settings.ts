import { ConfigError, type GroupName, readConfig } from '@lapse/runtime';
import type { Check } from './check.ts';

const groups = ['mysql', 'redis', 'rocketmq', 'shop', 'sweeper'] as const satisfies readonly GroupName[];

export interface SettingsCheck {
  readonly checks: readonly Check[];
  /** Groups that can be used. */
  readonly usable: ReadonlySet<(typeof groups)[number]>;
}

/** Each group by itself, so that one wrong setting does not hide the rest; a misspelt name is found once. */
export function checkSettings(env: NodeJS.ProcessEnv): SettingsCheck {
  const faults = new Map<string, Check>();
  const usable = new Set<(typeof groups)[number]>();
  for (const group of groups) {
    try {
      readConfig(env, [group]);
      usable.add(group);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const { name, fault, example } of error.faults) {
        const fix = example === undefined ? 'remove or correct it' : `set it, for example to ${example}`;
        faults.set(name, { area: 'settings', check: name, state: 'fail', says: fault, fix });
      }
      // A misspelt name is a fault of no group: then the group itself may be usable.
      const own = error.faults.some(({ fault }) => !/is not a setting/.test(fault));
      if (!own) usable.add(group);
    }
  }
  const whole: Check = {
    area: 'settings',
    check: 'settings',
    state: 'ok',
    says: `${groups.join(', ')}: complete and valid`,
  };
  return { checks: faults.size === 0 ? [whole] : [...faults.values()], usable };
}
