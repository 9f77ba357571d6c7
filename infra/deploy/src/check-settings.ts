import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, settings } from '@lapse/runtime';
import { groupsOf } from './process-groups.ts';

/** What one process is given. */
export interface GivenSettings {
  /** As a fault names it. */
  readonly name: string;
  readonly app: string;
  readonly env: Readonly<Record<string, string>>;
  /** Paths at which it finds a secret, and what is there where that is known. */
  readonly secretFiles: ReadonlyMap<string, string | undefined>;
}

const all = Object.values(settings).flatMap((group) =>
  Object.values(group.settings as Readonly<Record<string, { readonly env: string; readonly secret?: true }>>),
);
const secretNames = new Set(all.filter(({ secret }) => secret).map(({ env }) => env));

/** A value that will do, for each secret that is not there: the real ones are not for the repository. */
const samples: Readonly<Record<string, string>> = {
  LAPSE_MYSQL_URL: 'mysql://lapse:password@mysql:3306/lapse',
  LAPSE_REDIS_URL: 'redis://redis:6379',
  LAPSE_PAYMENT_WEBHOOK_SECRET: `whsec_${'A'.repeat(44)}`,
  LAPSE_SIM_WEBHOOK_SECRET: `whsec_${'A'.repeat(44)}`,
};
const sampleOfOthers = 'A'.repeat(64);

/**
 * Read what a manifest gives to a process as the process itself reads it: every name is a setting, every value is
 * valid, nothing that is required is missing. And each secret comes from a file that is mounted, never in the open.
 */
export function checkSettings(root: string, { name, app, env, secretFiles }: GivenSettings): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-settings-'));
  try {
    const faults: string[] = [];
    const read: Record<string, string> = {};
    for (const [variable, value] of Object.entries(env)) {
      const setting = variable.replace(/_FILE$/, '');
      if (secretNames.has(variable))
        faults.push(`${variable} is a secret in the open: give ${variable}_FILE`);
      if (variable === setting) {
        read[variable] = value;
        continue;
      }
      if (!secretFiles.has(value)) faults.push(`${variable} names ${value}, which is not mounted`);
      read[variable] = join(dir, setting);
      writeFileSync(join(dir, setting), secretFiles.get(value) ?? samples[setting] ?? sampleOfOthers);
    }
    return [...faults, ...readFaults(root, app, read)].map((fault) => `${name}: ${fault}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function readFaults(root: string, app: string, env: Readonly<Record<string, string>>): string[] {
  try {
    // The console's `main.ts` reads them once it lets guests in.
    const guests = app === 'console' && env.LAPSE_CONSOLE_GUESTS === 'true' ? (['auth'] as const) : [];
    readConfig({ ...env }, ['process', ...groupsOf(root, app), ...guests]);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
