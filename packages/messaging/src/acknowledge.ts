/** Acks in flight at once. An ack is one round trip; more of them bought nothing on two cores. */
const acksMax = 16;

export interface Acknowledger<V> {
  /** Never throws and never waits. */
  push(view: V): void;
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>;
}

/**
 * Acknowledge messages, a bounded number at once. An ack that fails is left to redelivery: the handler
 * answers "already done" for every order, and the message is acked then. What waits here is bounded by
 * the messages in hand.
 */
export function createAcknowledger<V>(
  ack: (view: V) => Promise<void>,
  on: { acked: () => void; failed: (error: unknown) => void },
): Acknowledger<V> {
  const waiting: V[] = [];
  let idlers: (() => void)[] = [];
  let inFlight = 0;

  async function lane(): Promise<void> {
    for (let view = waiting.pop(); view !== undefined; view = waiting.pop()) {
      try {
        await ack(view);
        on.acked();
      } catch (error) {
        on.failed(error);
      }
    }
    inFlight -= 1;
    if (inFlight > 0) return;
    for (const resolve of idlers) resolve();
    idlers = [];
  }

  return {
    push(view) {
      waiting.push(view);
      if (inFlight >= acksMax) return;
      inFlight += 1;
      void lane();
    },
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}
