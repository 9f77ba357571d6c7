export { childPids } from './child-pids.ts';
export { documentedLines } from './documented.ts';
export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { type HeldLock, holdLock } from './hold-lock.ts';
export { keepLog, keepSecrets } from './keep-for-log-check.ts';
export { nodeArgs } from './node-args.ts';
export type { BrokerAddress } from './oracle/broker-messages.ts';
export { checkInvariants, type OracleOptions } from './oracle/check-invariants.ts';
export {
  type Check,
  describeVerdict,
  type InvariantId,
  invariants,
  type Lateness,
  type OracleCounts,
  type Parked,
  type Verdict,
} from './oracle/verdict.ts';
export { queryDatabase } from './query-database.ts';
export { type SpawnedApp, spawnApp } from './spawn-app.ts';
export { createTestAuthority, type TestAuthority, type TestCertificate } from './test-certificates.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { TestEnvironmentError, type TestVariable, testRocketmq, testVariable } from './test-environment.ts';
export { createTestRedis, redisAt, type TestRedis } from './test-redis.ts';
export { testTopicPrefix } from './test-topic-prefix.ts';
export { type WaitOptions, waitUntil } from './wait-until.ts';
