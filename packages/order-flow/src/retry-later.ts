/** An order that must be looked at again, and in how many milliseconds. */
export interface RetryLater {
  readonly orderId: string;
  readonly inMs: number;
}

/** Another transaction holds the row for a few milliseconds: 20 to 50 ms later it has decided. */
const contendedMinMs = 20;
const contendedSpreadMs = 30;

/**
 * Being paid: looked at again after 100 to 250 ms, then ever more seldom, by a tenth of how late it is. The settler
 * closes it itself once the provider has answered, or the grace is over; this is for a settler that is away. A message holds
 * such an order for a minute and no longer, or it would be delivered until it is dead: then settler and sweep alone have it.
 */
const settlingMinMs = 100;
const settlingSpreadMs = 150;
const settlingShare = 0.1;
const settlingHeldMsMax = 60_000;

/**
 * What a batch of due orders leaves undone: an order whose time moved waits for it, and an order that
 * somebody else had locked is asked again shortly, at a random moment so that two workers do not stay in
 * step. Everything else in the result is decided.
 */
export function retryLater(
  result: {
    readonly notDue: readonly { readonly orderId: string; readonly dueInMs: number }[];
    readonly settling: readonly {
      readonly orderId: string;
      readonly dueInMs: number;
      readonly lateMs: number;
    }[];
    readonly contended: readonly string[];
  },
  random: () => number = Math.random,
): RetryLater[] {
  const retry: RetryLater[] = result.notDue.map(({ orderId, dueInMs }) => ({ orderId, inMs: dueInMs }));
  for (const { orderId, dueInMs, lateMs } of result.settling) {
    if (lateMs >= settlingHeldMsMax) continue;
    const againInMs = settlingMinMs + lateMs * settlingShare + random() * settlingSpreadMs;
    retry.push({ orderId, inMs: Math.min(Math.floor(againInMs), dueInMs) });
  }
  for (const orderId of result.contended) {
    retry.push({ orderId, inMs: contendedMinMs + Math.floor(random() * (contendedSpreadMs + 1)) });
  }
  return retry;
}
