import { type ExitCode, exitCodes } from './exit-codes.ts';

/** What a person, or with --json a program, is told when a command fails. */
export interface DescribedError {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
}

/** By the code, and not by the class: so no store's package is loaded to tell what went wrong. */
const known: Readonly<Record<string, { readonly exitCode: ExitCode; readonly advice: string }>> = {
  LAPSE_USAGE: { exitCode: exitCodes.usage, advice: '--help shows an example.' },
  LAPSE_CONFIG_INVALID: {
    exitCode: exitCodes.usage,
    advice: 'Set it, or run this beside `npm start` by `npm run lapse -- …`.',
  },
  LAPSE_MYSQL_UNAVAILABLE: {
    exitCode: exitCodes.away,
    advice: 'Nothing was changed. `lapse doctor` says what is reachable from here.',
  },
  LAPSE_MYSQL_TLS: { exitCode: exitCodes.away, advice: 'Nothing was changed.' },
  LAPSE_MYSQL_DENIED: { exitCode: exitCodes.away, advice: 'Nothing was changed.' },
  LAPSE_STOCK_UNAVAILABLE: {
    exitCode: exitCodes.away,
    advice:
      'What MySQL has committed reaches Redis later, by the sweeper. `lapse doctor` says what is reachable.',
  },
  LAPSE_TOPICS_NAMESRV: { exitCode: exitCodes.usage, advice: 'It is host:port.' },
  LAPSE_TOPICS_REFUSED: { exitCode: exitCodes.found, advice: '`lapse doctor` says what is there.' },
  LAPSE_ARCHIVE_UNREADABLE: { exitCode: exitCodes.fault, advice: 'Nothing was changed.' },
  LAPSE_COMMIT_UNKNOWN: {
    exitCode: exitCodes.unknown,
    advice: 'Run the same command with the same --key: it is done once.',
  },
};
/** A column or a table that MySQL does not know: the schema is of an older release, or there is none. */
const schemaErrnos: ReadonlySet<unknown> = new Set([1054, 1146]);
const schemaBehind: DescribedError = {
  code: 'LAPSE_SCHEMA_BEHIND',
  message: 'The tables in MySQL are not those of this release. `lapse schema status` says which are missing.',
  exitCode: exitCodes.usage,
};
const brokerAway = {
  exitCode: exitCodes.away,
  advice: '`lapse doctor` says what is reachable from here.',
};

export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return fault(String(error));
  if ('errno' in error && schemaErrnos.has(error.errno)) return schemaBehind;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (!code.startsWith('LAPSE_')) return fault(error.stack ?? error.message);
  const found = known[code] ?? (/^LAPSE_(TOPIC|ROCKETMQ|SENDER)/.test(code) ? brokerAway : undefined);
  if (!found) return fault(`${code} ${error.message}`);
  const message = /[.:\n]$|\n/.test(error.message) ? error.message : `${error.message}.`;
  return { code, message: `${message} ${found.advice}`, exitCode: found.exitCode };
}

function fault(message: string): DescribedError {
  return { code: 'LAPSE_INTERNAL', message, exitCode: exitCodes.fault };
}
