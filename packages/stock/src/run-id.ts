import type { Redis } from 'ioredis';

/** Which server the commands of a connection reach: the run id that Redis takes anew at each start. */
export interface RunId {
  /** Known at once while the connection lasts; undefined right after it is made. */
  now(): string | undefined;
  /** Ask the server, unless it is known. Rejects when the connection fails meanwhile. */
  read(): Promise<string>;
}

/**
 * Follow the run id of a connection. It is one TCP connection to one process, so the answer holds until it closes,
 * and is forgotten then: a new one is asked again before anything relies on it. Behind a proxy that hands the
 * commands of one connection to several servers this does not hold: connect to Redis itself.
 */
export function followRunId(redis: Redis): RunId {
  let known: string | undefined;
  let reading: Promise<string> | undefined;
  redis.on('close', () => {
    known = undefined;
    reading = undefined;
  });
  const read = async (): Promise<string> => {
    const info = await redis.info('server');
    const runId = /^run_id:(\w{1,64})\r?$/m.exec(info)?.[1];
    if (runId === undefined) throw new Error('The answer of INFO has no run_id.');
    return runId;
  };
  return {
    now: () => known,
    read: async () => {
      if (known !== undefined) return known;
      const mine = reading ?? read();
      reading = mine;
      try {
        const runId = await mine;
        if (reading === mine) known = runId;
        return runId;
      } finally {
        if (reading === mine) reading = undefined;
      }
    },
  };
}
