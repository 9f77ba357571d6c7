export { describeExit } from './become-ready.ts';
export { ensureRocketmq } from './ensure-rocketmq.ts';
export { findOnPath } from './find-on-path.ts';
export { findChromium, findPrograms, type Programs } from './find-programs.ts';
export { freePort } from './free-port.ts';
export { type InstallMode, installMissing, installMode } from './install-missing.ts';
export {
  createLocalService,
  type LocalService,
  type ServiceExit,
  type ServiceState,
} from './local-service.ts';
export { LocalServiceError, type LocalServiceErrorCode } from './local-service-error.ts';
export { type FolderLock, lockFolder } from './lock-folder.ts';
export { describePortHolder, findPortHolder } from './port-holder.ts';
export { type RegisteredProcess, reapLeftovers } from './process-registry.ts';
export { installCommands, type ProgramName } from './program-missing.ts';
export type { ProgramPlan } from './program-plan.ts';
export { defaultCacheDir, isRocketmqCached } from './rocketmq-cache.ts';
export type { RocketmqGuards, RocketmqUser } from './rocketmq-config.ts';
export { type MariadbOptions, type MariadbService, startMariadb } from './start-mariadb.ts';
export { type RedisOptions, type RedisService, startRedis } from './start-redis.ts';
export {
  type RedisClusterOptions,
  type RedisClusterService,
  startRedisCluster,
} from './start-redis-cluster.ts';
export {
  type RedisSentinelOptions,
  type RedisSentinelService,
  startRedisSentinel,
} from './start-redis-sentinel.ts';
export {
  type RocketmqBroker,
  type RocketmqOptions,
  type RocketmqService,
  startRocketmq,
} from './start-rocketmq.ts';
export { type RocketmqClusterOptions, startRocketmqCluster } from './start-rocketmq-cluster.ts';
export { type SuperviseOptions, supervise } from './supervise.ts';
