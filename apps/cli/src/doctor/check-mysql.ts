import type { OrderRepository, SchemaState } from '@lapse/order-repository';
import type { Check, CheckState } from './check.ts';

export interface MysqlPorts {
  readonly orders: Pick<OrderRepository, 'describeServer' | 'now' | 'ping'>;
  readonly schema: SchemaState;
}

/** Clocks further apart than this make lateness, as people and logs see it, hard to read. Nothing is decided by it. */
const skewMsMax = 1_000;
const isolationWanted = 'READ-COMMITTED';

/** Version, schema, isolation, clock and durability of the database that decides every order. */
export async function checkMysql({ orders, schema }: MysqlPorts): Promise<Check[]> {
  const startedAt = performance.now();
  await orders.ping();
  const pingMs = (performance.now() - startedAt).toFixed(1);
  const server = await orders.describeServer();
  const skewMs = Math.round(orders.now() - Date.now());
  const checks: [string, CheckState, string, string][] = [
    ['reachable', 'ok', `answers in ${pingMs} ms`, ''],
    versionCheck(server.version),
    [
      'schema',
      schema.pending.length === 0 ? (schema.unknown.length === 0 ? 'ok' : 'warn') : 'fail',
      schemaWords(schema),
      schema.pending.length === 0 ? 'update this release' : 'lapse schema migrate',
    ],
    [
      'isolation',
      server.isolation === isolationWanted ? 'ok' : 'fail',
      `sessions run at ${server.isolation}`,
      `something between here and MySQL forces it: sessions must be ${isolationWanted}`,
    ],
    [
      'writable',
      server.readOnly ? 'fail' : 'ok',
      server.readOnly ? 'the server is read-only' : 'takes writes',
      'LAPSE_MYSQL_URL must name the primary',
    ],
    [
      'durable',
      server.flushAtCommit === 1 ? 'ok' : 'warn',
      `innodb_flush_log_at_trx_commit is ${server.flushAtCommit}`,
      'set it to 1: otherwise a crash of the server loses acknowledged orders of the last second',
    ],
    [
      'clock',
      Math.abs(skewMs) <= skewMsMax ? 'ok' : 'warn',
      `the database clock is ${skewMs} ms from the clock of this machine`,
      'synchronise both by NTP; only the database clock decides, so nothing closes early',
    ],
  ];
  return checks.map(([check, state, says, fix]) => ({
    ...({ area: 'mysql', check, state, says } as const),
    ...(state === 'ok' ? {} : { fix }),
  }));
}

function schemaWords({ applied, pending, unknown }: SchemaState): string {
  if (pending.length > 0) return `${pending.length} migrations are pending: ${pending.join(', ')}`;
  if (unknown.length > 0) return `of a newer release than this one: ${unknown.join(', ')}`;
  return `up to date, ${applied.length} migrations`;
}

/** MySQL 8.0 or newer, MariaDB 10.6 or newer: SKIP LOCKED. */
function versionCheck(version: string): [string, CheckState, string, string] {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const isMaria = /mariadb/i.test(version);
  const isNew = isMaria ? major > 10 || (major === 10 && minor >= 6) : major >= 8;
  return ['version', isNew ? 'ok' : 'fail', version, 'MySQL 8.0 or newer, or MariaDB 10.6 or newer'];
}
