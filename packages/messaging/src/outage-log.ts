import type { Logger } from '@lapse/runtime';
import { messageOf } from './start-client.ts';

export interface OutageLog {
  failed(error: unknown): void;
  succeeded(): void;
  isOut(): boolean;
}

/** One line when something begins to fail, one when it works again, however often it is tried between. */
export function createOutageLog(log: Logger, what: string): OutageLog {
  let sinceMs: number | undefined;
  let attempts = 0;
  return {
    failed(error) {
      attempts += 1;
      if (sinceMs !== undefined) return;
      sinceMs = performance.now();
      log.warn({ reason: messageOf(error) }, `${what} fails; trying again until it works`);
    },
    succeeded() {
      if (sinceMs === undefined) return;
      log.info({ outageMs: Math.round(performance.now() - sinceMs), attempts }, `${what} works again`);
      sinceMs = undefined;
      attempts = 0;
    },
    isOut: () => sinceMs !== undefined,
  };
}
