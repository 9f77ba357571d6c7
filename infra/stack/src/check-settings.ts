import { openNotifier, openShopChannel } from '@lapse/notifications';
import { createLogger, type GroupName, readConfig } from '@lapse/runtime';

/** Settings that a person may give and the stack does not: their endpoints and secrets are its own. */
const optionalGroups = [
  'process',
  'create',
  'relay',
  'consume',
  'reminder',
  'closer',
  'sweeper',
  'settler',
  'notify',
  'shop',
  'webhook',
] as const;

/** Endpoints of a person's own, each the first setting of its group. */
const givenGroups: readonly (readonly [variable: string, group: GroupName])[] = [
  ['LAPSE_MYSQL_URL', 'mysql'],
  ['LAPSE_REDIS_URL', 'redis'],
  ['LAPSE_ROCKETMQ_ENDPOINTS', 'rocketmq'],
];

/**
 * Check what a person set before anything starts: a start takes a minute, and the processes would refuse it then.
 * @throws ConfigError with every fault; of addresses that webhooks may not go to, with the first.
 */
export async function checkSettings(env: NodeJS.ProcessEnv): Promise<void> {
  const given = givenGroups.flatMap(([variable, group]) => (env[variable] ? [group] : []));
  readConfig(env, given);
  const config = readConfig(env, optionalGroups);
  // As the reminder opens them: no connection is made.
  const notifier = await openNotifier(config.notify, config.webhook, createLogger('start', 'silent'));
  await notifier.close();
  const channel = await openShopChannel(config.shop, config.webhook);
  await channel?.close();
}
