/** An order that must be looked at again, and in how many milliseconds. */
export interface RetryLater {
  readonly orderId: string;
  readonly inMs: number;
}

/** Another transaction holds the row for a few milliseconds: 20 to 50 ms later it has decided. */
const contendedMinMs = 20;
const contendedSpreadMs = 30;

/**
 * What a batch of due orders leaves undone: an order whose time moved waits for it, and an order that
 * somebody else had locked is asked again shortly, at a random moment so that two workers do not stay in
 * step. Everything else in the result is decided.
 */
export function retryLater(
  result: {
    readonly notDue: readonly { readonly orderId: string; readonly dueInMs: number }[];
    readonly contended: readonly string[];
  },
  random: () => number = Math.random,
): RetryLater[] {
  const retry: RetryLater[] = result.notDue.map(({ orderId, dueInMs }) => ({ orderId, inMs: dueInMs }));
  for (const orderId of result.contended) {
    retry.push({ orderId, inMs: contendedMinMs + Math.floor(random() * (contendedSpreadMs + 1)) });
  }
  return retry;
}
