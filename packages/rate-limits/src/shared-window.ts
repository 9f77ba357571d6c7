import type { Cluster, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

/** Buyers or addresses that one process remembers at once, some 200 bytes each. The longest unseen is forgotten. */
const keysMax = 50_000;
const windowMs = 60_000;
/**
 * A process tells Redis after so many requests of one key, as a part of the limit. So an ordinary buyer, who asks
 * once or twice, costs no round trip at all, and 3 us of CPU; and `n` processes together let through at most
 * this part of the limit more, each, than they should.
 */
const reportedPart = 10;

interface Window {
  count: number;
  unreported: number;
  reporting: boolean;
  readonly endsAt: number;
  blockedUntil: number;
}

/**
 * Count a request under a key. @returns undefined when it may be served, else the milliseconds until the next one
 * may be.
 */
export type Count = (key: string) => number | undefined;

/**
 * At most `max` requests of a key in a minute, over all processes. Counted here and at once; what was counted goes
 * to Redis in the background, in parts, and when Redis says that the key is over its limit, it is refused here
 * from then on. The library counts in Redis, with one script.
 *
 * Fails open: while Redis is away each process holds the limit by itself. A limit is there against abuse, and a
 * sale must not end because its counter is away.
 */
export function openSharedWindow(redis: Redis | Cluster, name: string, max: number): Count {
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `lapse:limit:${name}`,
    points: max,
    duration: windowMs / 1_000,
    rejectIfRedisNotReady: true,
  });
  const reportAt = Math.max(1, Math.floor(max / reportedPart));
  const windows = new LRUCache<string, Window>({ max: keysMax });

  const report = async (key: string, window: Window): Promise<void> => {
    const points = window.unreported;
    window.unreported = 0;
    window.reporting = true;
    try {
      await shared.consume(key, points);
    } catch (answer) {
      // The library rejects with its result when the limit is reached, else with an error: then it was not counted.
      if (answer instanceof RateLimiterRes) window.blockedUntil = performance.now() + answer.msBeforeNext;
      else window.unreported += points;
    } finally {
      window.reporting = false;
    }
  };

  return (key) => {
    const now = performance.now();
    let window = windows.get(key);
    if (window !== undefined && now < window.blockedUntil) return window.blockedUntil - now;
    if (window === undefined || now >= window.endsAt) {
      window = { count: 0, unreported: 0, reporting: false, endsAt: now + windowMs, blockedUntil: 0 };
      windows.set(key, window);
    }
    window.count += 1;
    window.unreported += 1;
    if (window.count > max) {
      window.blockedUntil = window.endsAt;
      return window.endsAt - now;
    }
    if (window.unreported >= reportAt && !window.reporting) void report(key, window);
    return undefined;
  };
}
