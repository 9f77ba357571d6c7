import { authGroup, createGroup, httpGroup, limitsGroup } from './settings/api.ts';
import { consoleGroup } from './settings/console.ts';
import { notifyGroup } from './settings/notify.ts';
import { paymentGroup } from './settings/payment.ts';
import { opsGroup, processGroup } from './settings/process.ts';
import type { Group, GroupConfig } from './settings/setting.ts';
import { shopGroup, webhookGroup } from './settings/shop.ts';
import { simulatorGroup } from './settings/simulator.ts';
import { mysqlGroup, redisGroup, rocketmqGroup } from './settings/stores.ts';
import { tracesGroup } from './settings/traces.ts';
import {
  closerGroup,
  consumeGroup,
  relayGroup,
  reminderGroup,
  settlerGroup,
  sweeperGroup,
  workerGroup,
} from './settings/workers.ts';

/**
 * Every setting of every process, in one place: what is read, checked, and written into the README.
 * A process reads the groups it needs, so one environment file serves them all.
 */
export const settings = {
  process: processGroup,
  ops: opsGroup,
  traces: tracesGroup,
  mysql: mysqlGroup,
  redis: redisGroup,
  rocketmq: rocketmqGroup,
  http: httpGroup,
  auth: authGroup,
  limits: limitsGroup,
  payment: paymentGroup,
  create: createGroup,
  worker: workerGroup,
  relay: relayGroup,
  consume: consumeGroup,
  reminder: reminderGroup,
  closer: closerGroup,
  sweeper: sweeperGroup,
  settler: settlerGroup,
  notify: notifyGroup,
  simulator: simulatorGroup,
  shop: shopGroup,
  webhook: webhookGroup,
  console: consoleGroup,
} as const;

export type GroupName = keyof typeof settings;

type ConfigOf<N extends GroupName> =
  (typeof settings)[N] extends Group<infer S> ? { [K in keyof GroupConfig<S>]: GroupConfig<S>[K] } : never;

/** The configuration of a process that reads the groups `G`: `config.mysql.url`. */
export type Config<G extends GroupName> = { readonly [N in G]: ConfigOf<N> };

export type ProcessConfig = ConfigOf<'process'>;
export type OpsConfig = ConfigOf<'ops'>;
export type TracesConfig = ConfigOf<'traces'>;
export type MysqlConfig = ConfigOf<'mysql'>;
export type RedisConfig = ConfigOf<'redis'>;
export type RocketmqConfig = ConfigOf<'rocketmq'>;
export type HttpConfig = ConfigOf<'http'>;
export type AuthConfig = ConfigOf<'auth'>;
export type PaymentConfig = ConfigOf<'payment'>;
export type CreateConfig = ConfigOf<'create'>;
export type RelayConfig = ConfigOf<'relay'>;
export type ConsumeConfig = ConfigOf<'consume'>;
export type ReminderConfig = ConfigOf<'reminder'>;
export type CloserConfig = ConfigOf<'closer'>;
export type SweeperConfig = ConfigOf<'sweeper'>;
export type NotifyConfig = ConfigOf<'notify'>;
export type SimulatorConfig = ConfigOf<'simulator'>;
export type ShopConfig = ConfigOf<'shop'>;
export type ConsoleConfig = ConfigOf<'console'>;
export type WebhookConfig = ConfigOf<'webhook'>;
