import { StoreUnavailableError } from './errors.ts';

/** Calls that wait for their turn, at most; one more is refused at once. */
const waitingMax = 2_000;
/** Longest that a call waits for its turn: as long as for a connection. */
const turnTimeoutMs = 3_000;

export interface RowWaits {
  /**
   * Run a call that may wait for the lock of a row, in its turn.
   * @throws StoreUnavailableError when its turn does not come in time; it was not begun then.
   */
  run<T>(call: () => Promise<T>): Promise<T>;
}

/**
 * At most `max` calls at once, first come, first served. Payments and cancels wait for the row of one order or
 * activity, each with a connection of the pool: without a bound, those of one locked row took all of it, and nobody
 * could create an order.
 */
export function limitRowWaits(max: number): RowWaits {
  const waiting = new Set<() => void>();
  let running = 0;

  function takeTurn(): Promise<void> {
    if (running < max) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new StoreUnavailableError('others wait for locked rows already'));
      if (waiting.size >= waitingMax) return refuse();
      const timer = setTimeout(() => {
        waiting.delete(begin);
        refuse();
      }, turnTimeoutMs);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(begin);
    });
  }

  function passTurn(): void {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  return {
    run: async (call) => {
      await takeTurn();
      try {
        return await call();
      } finally {
        passTurn();
      }
    },
  };
}
