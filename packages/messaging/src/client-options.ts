import type { Logger, RocketmqConfig } from '@lapse/runtime';
import { createClientLogger } from './logger.ts';
import { installReconnect } from './reconnect.ts';

/** The library refuses less. */
const requestTimeoutMsMin = 1_000;

/** Options that every client of ours is made with. Installs the reconnect fix, so call it for each client. */
export function clientOptions(config: RocketmqConfig, log: Logger) {
  installReconnect(config.tlsCa);
  const { accessKey, secretKey } = config;
  return {
    endpoints: config.endpoints,
    namespace: '',
    sslEnabled: config.tls,
    requestTimeout: Math.max(requestTimeoutMsMin, config.requestTimeoutMs),
    logger: createClientLogger(log),
    ...(accessKey !== undefined && secretKey !== undefined
      ? { sessionCredentials: { accessKey, accessSecret: secretKey } }
      : {}),
  };
}
