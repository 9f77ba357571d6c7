import { ConfigError, type GroupName, readConfig } from '@lapse/runtime';
import type { Check } from './check.ts';

const groups = ['mysql', 'redis', 'rocketmq', 'shop', 'sweeper'] as const satisfies readonly GroupName[];

/** How `readConfig` says that a variable is no setting of ours: a fault of no group. */
const isMisspelt = /^is not a setting/;

export interface SettingsCheck {
  readonly checks: readonly Check[];
  /** Groups that can be used. */
  readonly usable: ReadonlySet<(typeof groups)[number]>;
  /** Without the names that no process knows: every process refuses them, and the stores are looked at all the same. */
  readonly env: NodeJS.ProcessEnv;
}

/** Each group by itself, so that one wrong setting does not hide the rest; a misspelt name is found once. */
export function checkSettings(env: NodeJS.ProcessEnv): SettingsCheck {
  const faults = new Map<string, Check>();
  const usable = new Set<(typeof groups)[number]>();
  const misspelt = new Set<string>();
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
      const own = error.faults.filter(({ fault }) => !isMisspelt.test(fault));
      if (own.length === 0) usable.add(group);
      for (const { name } of error.faults.filter((each) => !own.includes(each))) misspelt.add(name);
    }
  }
  const whole: Check = {
    area: 'settings',
    check: 'settings',
    state: 'ok',
    says: `${groups.join(', ')}: complete and valid`,
  };
  const known = Object.entries(env).filter(([name]) => !misspelt.has(name));
  return {
    checks: faults.size === 0 ? [whole] : [...faults.values()],
    usable,
    env: Object.fromEntries(known),
  };
}
