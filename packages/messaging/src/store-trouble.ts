/**
 * What a failed call says. `away`: the whole store is, and no message is at fault. `busy`: rows are locked by
 * others for now. `fault`: the message, or this release.
 */
export type StoreFault = 'away' | 'busy' | 'fault';

/** An outage that no retry has confirmed for this long is taken to be over: the next receive tells. */
const awayMsMax = 10_000;

export interface StoreTrouble {
  /** A call failed like this. */
  failed(fault: StoreFault): void;
  /** A call worked: whatever was, is over. */
  worked(): void;
  /** While it is, a worker asks for no more messages: each would only use up a delivery. */
  isAway(): boolean;
}

/** Whether the store is away, as the worker's own calls tell: what it holds is tried again every few seconds. */
export function createStoreTrouble(): StoreTrouble {
  let awayUntilMs = 0;
  return {
    failed(fault) {
      if (fault === 'away') awayUntilMs = performance.now() + awayMsMax;
    },
    worked() {
      awayUntilMs = 0;
    },
    isAway: () => performance.now() < awayUntilMs,
  };
}
