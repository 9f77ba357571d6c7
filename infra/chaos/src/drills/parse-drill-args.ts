import { parseOptions, UsageError } from '@lapse/stack';

export const drillNames = ['redis', 'broker', 'mysql'] as const;
export type DrillName = (typeof drillNames)[number];

export interface DrillArgs {
  readonly names: readonly DrillName[];
  /** How long the sale goes on between the backup of MySQL and its restore. */
  readonly backupAgeSeconds: number;
  readonly keep: boolean;
}

const backupAge = { min: 20, max: 3_600, otherwise: 60 } as const;

/** @throws {UsageError} saying what would work. */
export function parseDrillArgs(args: readonly string[]): DrillArgs {
  const {
    only,
    keep,
    'backup-age': age,
  } = parseOptions(args, {
    only: { type: 'string', multiple: true },
    'backup-age': { type: 'string' },
    keep: { type: 'boolean' },
  });
  return {
    names: only === undefined ? drillNames : only.map(nameOf),
    backupAgeSeconds: age === undefined ? backupAge.otherwise : secondsOf(age),
    keep: keep === true,
  };
}

function nameOf(text: string): DrillName {
  const name = drillNames.find((known) => known === text);
  if (name === undefined) throw new UsageError(`--only=${text} must be one of ${drillNames.join(', ')}.`);
  return name;
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= backupAge.min && seconds <= backupAge.max) return seconds;
  throw new UsageError(
    `--backup-age=${text} must be a whole number of seconds from ${backupAge.min} to ${backupAge.max}.`,
  );
}
