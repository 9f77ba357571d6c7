import type { Command } from '../command.ts';
import { type Context, openContext } from '../context.ts';
import type { Check, CheckState } from '../doctor/check.ts';
import { checkMysql } from '../doctor/check-mysql.ts';
import { checkRedis } from '../doctor/check-redis.ts';
import { checkRocketmq } from '../doctor/check-rocketmq.ts';
import { checkSettings } from '../doctor/check-settings.ts';
import { entryFix } from '../doctor/entry-fix.ts';
import { exitCodes } from '../exit-codes.ts';
import { doctorShape } from '../shapes/doctor.ts';
import { table } from '../table.ts';

/** `lapse doctor`: everything is looked at, whatever fails; nothing is changed. */
export const examine: Command = async ({ io }, { options }) => {
  const settings = checkSettings(io.env);
  const verbose = options.verbose === true;
  const context = openContext({ ...io, env: settings.env }, { verbose, utc: false });
  const checks = [...settings.checks];
  try {
    context.progress('looking at MySQL, Redis and RocketMQ …');
    const areas = ['mysql', 'redis', 'rocketmq'] as const;
    const looks = areas.map(async (area) =>
      settings.usable.has(area) ? lookAt(area, context) : [notSet(area)],
    );
    checks.push(...(await Promise.all(looks)).flat());
  } finally {
    await context.close();
  }
  const failed = checks.filter(({ state }) => state === 'fail').length;
  return {
    shape: doctorShape,
    data: { ok: failed === 0, checks },
    text: textOf(checks, failed),
    exitCode: failed === 0 ? exitCodes.ok : exitCodes.found,
  };
};

type Store = Exclude<Check['area'], 'settings'>;

const looksAt: Readonly<Record<Store, (context: Context) => Promise<Check[]>>> = {
  mysql: async (context) => {
    const { readSchema } = await import('@lapse/order-repository');
    const schema = await readSchema(context.config('mysql').mysql, context.log);
    return checkMysql({ orders: await context.orders(), schema });
  },
  redis: async (context) => checkRedis(await context.stock()),
  rocketmq: async (context) => {
    const { describeBroker } = await import('@lapse/messaging');
    return checkRocketmq(await describeBroker(context.config('rocketmq').rocketmq, context.log));
  },
};
const addresses: Readonly<Record<Store, string>> = {
  mysql: 'LAPSE_MYSQL_URL',
  redis: 'LAPSE_REDIS_URL',
  rocketmq: 'LAPSE_ROCKETMQ_ENDPOINTS and LAPSE_ROCKETMQ_NAMESRV',
};

/** A store that does not answer is a failed check, and no end of the others. */
async function lookAt(area: Store, context: Context): Promise<Check[]> {
  try {
    return await looksAt[area](context);
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    const fix = entryFix(area, error) ?? `start it, and check ${addresses[area]} and the network between`;
    return [{ area, check: 'reachable', state: 'fail', says, fix }];
  }
}

function notSet(area: Store): Check {
  return { area, check: 'reachable', state: 'skipped', says: 'not looked at: its settings are not usable' };
}

const marks: Readonly<Record<CheckState, string>> = { ok: 'ok', warn: 'WARN', fail: 'FAIL', skipped: '-' };

function textOf(checks: readonly Check[], failed: number): string {
  const rows = checks.map(({ area, check, state, says }) => [marks[state], area, check, says]);
  const fixes = checks.flatMap(({ area, check, state, fix }) =>
    fix === undefined ? [] : [`${marks[state]} ${area}, ${check}: ${fix}`],
  );
  const last = failed === 0 ? 'no check failed' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed`;
  return [table(['', 'area', 'check', 'found'], rows), '', ...fixes, last].join('\n');
}
