import type { CollectedSpan, Collector } from './open-collector.ts';

/**
 * The last step of an order: its places are back, they are sold, or money that came after its end has taken them again,
 * of which Redis has no span.
 */
const lastSteps = new Set(['redis release', 'redis confirm', 'mysql reacquired']);

/**
 * Which orders are over: those whose last step was seen and of which no span came for `quietMs`, since the processes send
 * theirs one after the other. An order that is paid after its close is over twice.
 * @returns what looks at the spans that came since it was called before, and answers the ids of orders that are over now.
 */
export function watchEndedOrders(
  collector: Pick<Collector, 'spans' | 'taken'>,
  quietMs: number,
): () => string[] {
  let seen = 0;
  const endedAtMs = new Map<string, number>();
  const takeNew = (): readonly CollectedSpan[] => {
    const spans = collector.spans();
    // What came and made room again between two looks is lost.
    const fresh = Math.min(collector.taken() - seen, spans.length);
    seen = collector.taken();
    return spans.slice(spans.length - fresh);
  };
  return () => {
    const nowMs = performance.now();
    for (const { name, attributes } of takeNew()) {
      const orderId = attributes['lapse.order.id'];
      if (typeof orderId !== 'string') continue;
      if (lastSteps.has(name) || endedAtMs.has(orderId)) endedAtMs.set(orderId, nowMs);
    }
    const over = [...endedAtMs].filter(([, atMs]) => nowMs - atMs >= quietMs).map(([orderId]) => orderId);
    for (const orderId of over) endedAtMs.delete(orderId);
    return over;
  };
}
