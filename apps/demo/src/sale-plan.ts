/** What a buyer does after the click. */
export type Behaviour = 'pay' | 'pay-at-deadline' | 'cancel' | 'lapse';

export interface BuyerPlan {
  readonly userId: string;
  /** Which of the sale's activities the buyer wants: an index. */
  readonly activity: number;
  readonly behaviour: Behaviour;
  /** Clicks sent at the same moment with one idempotency key. */
  readonly clicks: number;
  /** When the buyer arrives, in ms after the sale opens. */
  readonly arriveAtMs: number;
  /** How long a paying or cancelling buyer thinks, as a share of the pay window from 0 to 1. */
  readonly thinkShare: number;
  readonly locale: 'en' | 'zh';
}

export interface SalePlan {
  readonly activities: readonly { readonly name: string; readonly capacity: number }[];
  readonly buyers: readonly BuyerPlan[];
}

/** Of ten buyers three pay, one cancels, one pays in the last 50 ms, the rest never pay. */
const behaviours: readonly Behaviour[] = [
  'pay',
  'lapse',
  'cancel',
  'lapse',
  'pay',
  'lapse',
  'pay-at-deadline',
  'lapse',
  'pay',
  'lapse',
];

/**
 * Plan a sale of two activities (400 and 300 places) for `buyers` people. Eight in ten come in the first
 * rush, more than there are places for; the others come back when the first unpaid orders have closed, and
 * can only be served from places that came back. The same input gives the same plan.
 * @param rushMs how long the first rush lasts
 * @param secondWaveAtMs when the others begin to arrive; undefined: everybody comes in the first rush
 */
export function planSale(buyers: number, rushMs: number, secondWaveAtMs: number | undefined): SalePlan {
  const first = secondWaveAtMs === undefined ? buyers : Math.ceil(buyers * 0.8);
  const plans = Array.from({ length: buyers }, (_, index): BuyerPlan => {
    const inRush = index < first;
    const position = inRush ? index / first : (index - first) / (buyers - first);
    return {
      userId: `buyer-${String(index + 1).padStart(4, '0')}`,
      activity: index % 7 < 4 ? 0 : 1,
      behaviour: behaviours[index % behaviours.length] ?? 'lapse',
      clicks: index % 9 === 0 ? 3 : 1,
      arriveAtMs: Math.round((inRush ? 0 : (secondWaveAtMs ?? 0)) + position * rushMs),
      thinkShare: 0.05 + 0.75 * ((index * 37) % 100) * 0.01,
      locale: index % 2 === 0 ? 'zh' : 'en',
    };
  });
  return {
    activities: [
      { name: 'Evening show', capacity: 400 },
      { name: 'Matinee', capacity: 300 },
    ],
    buyers: plans,
  };
}

/**
 * Plan a steady stream: `perSecond` buyers a second who never pay, evenly spread, with places for all. It shows
 * how late orders close when nothing else is in the way.
 */
export function planSteady(perSecond: number, seconds: number): SalePlan {
  const buyers = Array.from(
    { length: perSecond * seconds },
    (_, index): BuyerPlan => ({
      userId: `buyer-${String(index + 1).padStart(6, '0')}`,
      activity: 0,
      behaviour: 'lapse',
      clicks: 1,
      arriveAtMs: Math.round((index * 1_000) / perSecond),
      thinkShare: 0,
      locale: index % 2 === 0 ? 'zh' : 'en',
    }),
  );
  return { activities: [{ name: 'Steady stream', capacity: buyers.length }], buyers };
}
