import type { Check } from './check.ts';
import { redisFixes } from './redis-fixes.ts';

const page = 'infra/deploy/ENGINES.md';
const primary = 'LAPSE_MYSQL_URL must name the primary';
const loginOfRedis =
  'correct user and password in LAPSE_REDIS_URL; those of sentinels are LAPSE_REDIS_SENTINEL_USERNAME and _PASSWORD';
const loginOfRocketmq = `correct LAPSE_ROCKETMQ_ACCESS_KEY and LAPSE_ROCKETMQ_SECRET_KEY, and give that user its rights (${page})`;

/** By code: ours or, where we have none, the one of mysql2 and the one that each refusal of Redis begins with. */
const byCode: Readonly<Record<string, string>> = {
  LAPSE_MYSQL_TLS:
    "put the CA that signed the server's certificate into LAPSE_MYSQL_TLS_CA_FILE, and name the host in LAPSE_MYSQL_URL as the certificate does; a server without TLS needs LAPSE_MYSQL_TLS=false",
  LAPSE_MYSQL_DENIED: `correct user, password and database in LAPSE_MYSQL_URL, and give that user its rights (${page}); one that must come by TLS needs LAPSE_MYSQL_TLS=true`,
  ER_BAD_DB_ERROR: `create the database that LAPSE_MYSQL_URL names, or correct its name (${page})`,
  ER_TABLEACCESS_DENIED_ERROR: `give the user of LAPSE_MYSQL_URL its rights (${page})`,
  ER_MUST_CHANGE_PASSWORD: 'the password of the user of LAPSE_MYSQL_URL has expired: give it a new one',
  ER_HOST_NOT_PRIVILEGED: `let the user of LAPSE_MYSQL_URL come from this host: 'lapse'@'%' (${page})`,
  ER_CON_COUNT_ERROR:
    'raise max_connections of the server, or lower LAPSE_MYSQL_POOL_MAX: each process may open so many',
  ER_USER_LIMIT_REACHED:
    'raise the limit of connections of that user, or lower LAPSE_MYSQL_POOL_MAX: each process may open so many',
  ER_OPTION_PREVENTS_STATEMENT: primary,
  ER_READ_ONLY_MODE: primary,

  NOAUTH: loginOfRedis,
  WRONGPASS: loginOfRedis,
  NOPERM: `give the user of LAPSE_REDIS_URL its rights: the ACL line of ${page}`,
  READONLY: redisFixes.master,
  MASTERDOWN: `it is a replica that has lost its master: ${redisFixes.master}`,
  NOREPLICAS: redisFixes.replicas,
  MISCONF: `it cannot save and so takes no writes: ${redisFixes.disk}`,
  OOM: redisFixes.memory,
  LOADING: 'wait until it has read its data from disk',
  BUSY: 'SCRIPT KILL ends the script that keeps it busy; those of Lapse take milliseconds',

  LAPSE_ROCKETMQ_DENIED: loginOfRocketmq,
  LAPSE_TOPICS_REFUSED: loginOfRocketmq,
};

/** `Redis is not available to answer a ping: NOAUTH …`: our words, then its own. */
const refusalOfRedis = /^Redis .*?: ([A-Z]+) /;

/** Of Redis, where what it answers has no code of its own, or its driver hides that; the first that matches counts. */
const bySaying: readonly (readonly [RegExp, string])[] = [
  [/invalid username-password/, loginOfRedis],
  [/max number of clients/, 'raise maxclients of the server: each process has a connection to it'],
  [
    /certificate|altnames|wrong version number|secure TLS|SSL routines/i,
    "put the CA that signed the server's certificate into LAPSE_REDIS_TLS_CA_FILE, and name the host in LAPSE_REDIS_URL as the certificate does; rediss:// speaks TLS, redis:// does not",
  ],
  [
    /sentinel/i,
    'LAPSE_REDIS_URL must name sentinels that answer, and the master as they call it: redis-sentinel://host:port,host:port/name',
  ],
];

/** What mends a store that is there and does not let us in, or does not serve; undefined: that is not what was said. */
export function entryFix(area: Check['area'], error: unknown): string | undefined {
  const coded = codesOf(error).find((code) => Object.hasOwn(byCode, code));
  if (coded !== undefined) return byCode[coded];
  return area === 'redis' ? bySaying.find(([pattern]) => pattern.test(String(error)))?.[1] : undefined;
}

/** Of an error and of what caused it, outermost first. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  return [...own, ...(refusalOfRedis.exec(error.message)?.slice(1) ?? []), ...codesOf(error.cause)];
}
