import type { Closable, Logger } from '@lapse/runtime';
import { addressKey } from './address-key.ts';
import { type ConnectConfig, connectRedis } from './connect-redis.ts';
import { type Count, openSharedWindow } from './shared-window.ts';

/** The Redis is that which the processes share. */
export interface RateLimitsConfig extends ConnectConfig {
  /** Most orders and payments that one buyer may ask for in a minute; 0: no limit. */
  readonly buyerWritesMax: number;
  /** Most requests of one address in a minute; 0: no limit. */
  readonly addressRequestsMax: number;
}

/** Never throws and never waits: it is asked before every request. */
export interface RateLimits extends Closable {
  /** @returns undefined: serve it. Else the milliseconds to wait. */
  countBuyer(userId: string): number | undefined;
  /** Requests from the machine itself are not counted. @returns as above. */
  countAddress(address: string): number | undefined;
}

const noLimit: Count = () => undefined;

/** Without any limit no connection is made. */
export function openRateLimits(config: RateLimitsConfig, log: Logger): RateLimits {
  const { buyerWritesMax, addressRequestsMax } = config;
  if (buyerWritesMax === 0 && addressRequestsMax === 0) {
    return { countBuyer: noLimit, countAddress: noLimit, close: async () => undefined };
  }
  const redis = connectRedis(config, log);
  const open = (name: string, max: number): Count =>
    max === 0 ? noLimit : openSharedWindow(redis, name, max);
  const countKey = open('address', addressRequestsMax);
  return {
    countBuyer: open('buyer', buyerWritesMax),
    countAddress: (address) => {
      const key = addressKey(address);
      return key === undefined ? undefined : countKey(key);
    },
    close: async () => redis.disconnect(),
  };
}
