import type { Check } from './check.ts';

const page = 'infra/deploy/ENGINES.md';

/** By what was said, since a driver hides the code of its cause; the first that matches counts. */
const fixes: readonly (readonly [Check['area'], RegExp, string])[] = [
  [
    'mysql',
    /TLS with it failed/,
    "put the CA that signed the server's certificate into LAPSE_MYSQL_TLS_CA_FILE, and name the host in LAPSE_MYSQL_URL as the certificate does; a server without TLS needs LAPSE_MYSQL_TLS=false",
  ],
  [
    'mysql',
    /refused the login/,
    `correct user, password and database in LAPSE_MYSQL_URL, and give that user its rights (${page}); one that must come by TLS needs LAPSE_MYSQL_TLS=true`,
  ],
  [
    'redis',
    /WRONGPASS|NOAUTH|invalid username-password/,
    'correct user and password in LAPSE_REDIS_URL; those of sentinels are LAPSE_REDIS_SENTINEL_USERNAME and _PASSWORD',
  ],
  ['redis', /NOPERM/, `give the user of LAPSE_REDIS_URL its rights: the ACL line of ${page}`],
  [
    'redis',
    /certificate|altnames|wrong version number|secure TLS|SSL routines/i,
    "put the CA that signed the server's certificate into LAPSE_REDIS_TLS_CA_FILE, and name the host in LAPSE_REDIS_URL as the certificate does; rediss:// speaks TLS, redis:// does not",
  ],
  [
    'redis',
    /sentinel/i,
    'LAPSE_REDIS_URL must name sentinels that answer, and the master as they call it: redis-sentinel://host:port,host:port/name',
  ],
  [
    'rocketmq',
    /RocketMQ refused/,
    `correct LAPSE_ROCKETMQ_ACCESS_KEY and LAPSE_ROCKETMQ_SECRET_KEY, and give that user its rights (${page})`,
  ],
];

/** What mends a store that is there and does not let us in; undefined: that is not what was said. */
export function entryFix(area: Check['area'], says: string): string | undefined {
  return fixes.find(([of, pattern]) => of === area && pattern.test(says))?.[2];
}
