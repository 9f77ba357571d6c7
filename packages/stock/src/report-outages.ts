import type { Logger } from '@lapse/runtime';
import type { Cluster, Redis } from 'ioredis';

export interface Outages {
  /** Why Redis was last away; undefined while it is there. */
  fault(): unknown;
  /** The connection is closed on purpose: say no more. */
  ended(): void;
}

/** One line when Redis goes away and one when it is back, whatever the number of attempts between them. */
export function reportOutages(redis: Redis | Cluster, log: Logger): Outages {
  let fault: unknown;
  let awaySince: number | undefined;
  let closing = false;
  const away = (error: unknown): void => {
    if (closing) return;
    fault = error ?? fault;
    if (awaySince !== undefined) return;
    awaySince = performance.now();
    log.warn({ err: error }, 'Redis is away; stock operations fail until it is back');
  };
  redis.on('error', away);
  redis.on('close', () => away(fault ?? new Error('The connection was closed by Redis.')));
  redis.on('ready', () => {
    if (awaySince !== undefined) {
      log.info({ awayMs: Math.round(performance.now() - awaySince) }, 'Redis is back');
    }
    awaySince = undefined;
    fault = undefined;
  });
  return {
    fault: () => fault,
    ended: () => {
      closing = true;
    },
  };
}
