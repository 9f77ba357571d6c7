/** Thrown when a test needs a service whose address is not in the environment. */
export class TestEnvironmentError extends Error {
  readonly code = 'LAPSE_TEST_SERVICES_MISSING';
  override readonly name = 'TestEnvironmentError';
}

export type TestVariable =
  | 'LAPSE_TEST_MYSQL_URL'
  | 'LAPSE_TEST_REDIS_URL'
  | 'LAPSE_TEST_ROCKETMQ_ENDPOINTS'
  | 'LAPSE_TEST_ROCKETMQ_NAMESRV';

/**
 * The address of a real service for tests. Tests never fall back to a mock, nor to whatever listens on
 * a well-known port: that may be somebody's data.
 * @throws {TestEnvironmentError} when the variable is absent or empty; it says what to run.
 */
export function testVariable(name: TestVariable, env: NodeJS.ProcessEnv = process.env): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new TestEnvironmentError(
    `${name} is not set: this test needs a real service. Run "npm test -- --only <package>" at the root, ` +
      'which starts the services and sets the variable, or set it to the address of one that may be written to.',
  );
}

/** Address of the RocketMQ of the tests: the proxy's gRPC endpoints, and the name server for topics. */
export function testRocketmq(): { readonly endpoints: string; readonly namesrv: string } {
  return {
    endpoints: testVariable('LAPSE_TEST_ROCKETMQ_ENDPOINTS'),
    namesrv: testVariable('LAPSE_TEST_ROCKETMQ_NAMESRV'),
  };
}
