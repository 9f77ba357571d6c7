export { type BackOffLimits, backOffMs } from './back-off.ts';
export type { Closable } from './closable.ts';
export { ConfigError, type ConfigFault } from './config-error.ts';
export { crashPoint, withCrashPoints } from './crash-point.ts';
export {
  type Batcher,
  BatcherClosedError,
  type BatcherOptions,
  createBatcher,
  QueueFullError,
} from './create-batcher.ts';
export { createHistogram, type FastHistogram } from './create-histogram.ts';
export { createLatenessMeter, type LatenessMeter } from './create-lateness-meter.ts';
export { hideUrlPasswords } from './hide-secrets.ts';
export { createLogger, type Logger } from './logger.ts';
export { type CallMeter, createCallMeter, measureCalls, type Watchers } from './measure-calls.ts';
export { Counter, Gauge, Histogram, registry } from './metrics.ts';
export { nodeHttp } from './node-http.ts';
export type { Pausable } from './pausable.ts';
export { readConfig } from './read-config.ts';
export { type RedisAddress, type RedisTarget, readRedisAddress } from './redis-address.ts';
export { type RegisteredWorker, type RegisterOptions, registerWorker } from './register-worker.ts';
export { type Repeat, type RepeatOptions, repeat } from './repeat.ts';
export { type ProcessContext, run } from './run.ts';
export { type Ops, serveOps } from './serve-ops.ts';
export type {
  AuthConfig,
  CloserConfig,
  Config,
  ConsoleConfig,
  ConsumeConfig,
  CreateConfig,
  GroupName,
  HttpConfig,
  MysqlConfig,
  NotifyConfig,
  OpsConfig,
  PaymentConfig,
  ProcessConfig,
  RedisConfig,
  RelayConfig,
  ReminderConfig,
  RocketmqConfig,
  ShopConfig,
  SimulatorConfig,
  SweeperConfig,
  WebhookConfig,
} from './settings.ts';
export { settings } from './settings.ts';
export { settingsTable } from './settings-table.ts';
export { sleep } from './sleep.ts';
export { startProcess } from './start-process.ts';
export { TimeBoxError, timeBox } from './time-box.ts';
export type { TlsFiles } from './tls-files.ts';
export { isTracing, type OrdersSpan, type SpanRef, traceIdOf, traceOrders } from './trace-orders.ts';
export { workInLanes } from './work-in-lanes.ts';
export { type BatchName, observeBatch, showQueue } from './work-metrics.ts';
