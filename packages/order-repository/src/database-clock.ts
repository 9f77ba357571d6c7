import { TimeoutError } from 'tarn';
import type { Database } from './database.ts';

const sampleEveryMs = 10_000;
const samplesPerRound = 3;
/** Of 3 s each. */
const firstAttemptsMax = 5;

export interface DatabaseClock {
  /** Whole milliseconds since 1970 by the database clock, estimated. */
  now(): number;
  close(): Promise<void>;
}

/**
 * Follow the database clock: its distance from this process's monotonic clock, by the sample with the least
 * round trip of a round, every 10 s. The wall clock of this machine plays no part, so a step of it moves no
 * delivery. While MySQL is away the last distance stands.
 */
export async function openDatabaseClock(database: Database): Promise<DatabaseClock> {
  let distance = await firstDistance(database);
  let sampling = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    sampling = sampleDistance(database)
      .then((sampled) => {
        distance = sampled;
      })
      // Expected while MySQL is away; the operations say so loudly enough.
      .catch(() => undefined)
      .finally(() => {
        busy = false;
      });
  }, sampleEveryMs);
  timer.unref();
  return {
    now: () => Math.floor(performance.now() + distance),
    close: async () => {
      clearInterval(timer);
      await sampling;
    },
  };
}

/**
 * The first connection of a process, on a machine where everything starts at once, may take longer than any operation
 * waits for one. MySQL that refuses is not asked again.
 */
async function firstDistance(database: Database): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sampleDistance(database);
    } catch (error) {
      if (!(error instanceof TimeoutError) || attempt === firstAttemptsMax) throw error;
    }
  }
}

async function sampleDistance(database: Database): Promise<number> {
  return database.withSession(async (session) => {
    let best = { roundTrip: Number.POSITIVE_INFINITY, distance: 0 };
    for (let count = 0; count < samplesPerRound; count += 1) {
      const asked = performance.now();
      const [row] = await session.rows<{ at: Date }>('SELECT NOW(3) AS at');
      const answered = performance.now();
      const roundTrip = answered - asked;
      if (row && roundTrip < best.roundTrip) {
        best = { roundTrip, distance: row.at.getTime() - (asked + answered) / 2 };
      }
    }
    return best.distance;
  });
}
