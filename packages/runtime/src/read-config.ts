import { closeSync, openSync, readSync } from 'node:fs';
import { ConfigError, type ConfigFault } from './config-error.ts';
import { nearestName } from './nearest-name.ts';
import type { Setting } from './settings/setting.ts';
import { type Config, type GroupName, settings } from './settings.ts';

/** Longest value read from a file (`NAME_FILE`), in bytes: a cloud's list of its CAs has some 170 kB. */
const fileBytesMax = 524_288;

/** Most of a bad value that an error quotes, in characters. */
const quotedMax = 60;

/** Variables of the local stack, the tests and the demo: not ours to judge. */
const otherNames = /^LAPSE_(?:TEST|INSTALL|SERVICES|CACHE|COMPOSE|STACK|DEMO|BENCH|API_URL)(?:_|$)/;

const knownNames = Object.values(settings).flatMap((group) =>
  Object.values<Setting>(group.settings).flatMap(({ env }) => [env, `${env}_FILE`]),
);

/**
 * Read the settings of these groups from the environment. An empty value counts as missing, and
 * `NAME_FILE` names a file that holds the value of `NAME` (a mounted secret).
 * A `LAPSE_` variable that no process knows is a fault as well: a misspelt name would silently leave the
 * default in force.
 * @throws ConfigError (LAPSE_CONFIG_INVALID) with every fault found.
 */
export function readConfig<G extends GroupName>(env: NodeJS.ProcessEnv, groups: readonly G[]): Config<G> {
  const faults: ConfigFault[] = [];
  const config: Record<string, Record<string, unknown>> = {};
  for (const name of groups) config[name] = readGroup(env, name, faults);
  faults.push(...findMisspelt(env));
  if (faults.length > 0) throw new ConfigError(faults);
  // Each group was built field by field from its own schemas just above.
  return config as Config<G>;
}

function readGroup(env: NodeJS.ProcessEnv, name: GroupName, faults: ConfigFault[]): Record<string, unknown> {
  const group = settings[name];
  const fields: Record<string, unknown> = {};
  let valid = true;
  for (const [field, setting] of Object.entries<Setting>(group.settings)) {
    const result = readSetting(env, setting);
    if (result.kind === 'value') fields[field] = result.value;
    if (result.kind === 'fault') {
      valid = false;
      faults.push({ name: setting.env, fault: result.fault, example: setting.example });
    }
  }
  if (!valid) return fields;
  const examples = new Map<string, string>(
    Object.values<Setting>(group.settings).map(({ env, example }) => [env, example]),
  );
  // Valid by itself, field by field, so it has the shape that the group's own check takes.
  const check = group.check as (config: Record<string, unknown>) => ReturnType<typeof group.check>;
  for (const { env, fault } of check(fields)) {
    const example = examples.get(env);
    faults.push({ name: env, fault, ...(example !== undefined && { example }) });
  }
  return fields;
}

type SettingResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'fault'; readonly fault: string };

function readSetting(env: NodeJS.ProcessEnv, setting: Setting): SettingResult {
  const found = readText(env, setting.env);
  if (found.kind === 'fault') return found;
  const text = found.kind === 'absent' ? setting.default : found.value;
  if (text === undefined) {
    return setting.optional ? { kind: 'absent' } : { kind: 'fault', fault: 'is missing' };
  }
  const parsed = setting.schema.safeParse(text);
  if (parsed.success) return { kind: 'value', value: parsed.data };
  const wrong = parsed.error.issues.map(({ message }) => message).join(', ');
  return { kind: 'fault', fault: setting.secret ? wrong : `${wrong}; it is ${quote(text)}` };
}

type TextResult =
  | { readonly kind: 'value'; readonly value: string }
  | Exclude<SettingResult, { kind: 'value' }>;

function readText(env: NodeJS.ProcessEnv, name: string): TextResult {
  const text = env[name];
  const path = env[`${name}_FILE`];
  if (!path) return text ? { kind: 'value', value: text } : { kind: 'absent' };
  if (text) return { kind: 'fault', fault: `is set, and so is ${name}_FILE: keep one of them` };
  try {
    const value = readStart(path).replace(/\r?\n$/, '');
    if (Buffer.byteLength(value) >= fileBytesMax) {
      return { kind: 'fault', fault: `is in a file (${name}_FILE) longer than ${fileBytesMax} bytes` };
    }
    return value ? { kind: 'value', value } : { kind: 'fault', fault: `is in an empty file (${name}_FILE)` };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { kind: 'fault', fault: `cannot be read from the file ${quote(path)} of ${name}_FILE (${code})` };
  }
}

/** The first bytes of a file: a path such as /dev/zero must not fill the memory. */
function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(fileBytesMax);
    let length = 0;
    while (length < fileBytesMax) {
      const read = readSync(file, buffer, length, fileBytesMax - length, null);
      if (read === 0) break;
      length += read;
    }
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

function findMisspelt(env: NodeJS.ProcessEnv): ConfigFault[] {
  const known = new Set(knownNames);
  return Object.entries(env)
    .filter(
      ([name, value]) => name.startsWith('LAPSE_') && value && !known.has(name) && !otherNames.test(name),
    )
    .map(([name]) => {
      const nearest = nearestName(name, knownNames);
      return {
        name,
        fault: nearest
          ? `is not a setting; did you mean ${nearest}?`
          : 'is not a setting; remove it, or see the table of settings in the README',
      };
    });
}

function quote(text: string): string {
  return JSON.stringify(text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text);
}
