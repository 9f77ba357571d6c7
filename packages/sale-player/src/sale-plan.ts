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

/** What a sale is like. Shares are from 0 to 1. */
export interface SaleShape {
  readonly buyers: number;
  readonly activities: SalePlan['activities'];
  /** Of the buyers who get a place; all others let it lapse. */
  readonly shares: { readonly pay: number; readonly payAtDeadline: number; readonly cancel: number };
  /** How long the first rush lasts. */
  readonly rushMs: number;
  /** When a fifth of the buyers begin to arrive, for places that came back; undefined: all come in the first rush. */
  readonly secondWaveAtMs: number | undefined;
}

/** Shares of the buyers of a sale that has something of everything. */
export const mixedShares: SaleShape['shares'] = { pay: 0.3, payAtDeadline: 0.1, cancel: 0.1 };
const firstWaveShare = 0.8;

/**
 * Plan a sale. Buyers choose among the activities as these have places. The same shape gives the same plan, whose shares
 * are exact to a few buyers.
 */
export function planSale({ buyers, activities, shares, rushMs, secondWaveAtMs }: SaleShape): SalePlan {
  const first = secondWaveAtMs === undefined ? buyers : Math.ceil(buyers * firstWaveShare);
  const capacity = activities.reduce((sum, activity) => sum + activity.capacity, 0);
  const plans = Array.from({ length: buyers }, (_, index): BuyerPlan => {
    const inRush = index < first;
    const position = inRush ? index / first : (index - first) / (buyers - first);
    return {
      userId: `buyer-${String(index + 1).padStart(4, '0')}`,
      activity: pick(
        activities.map((activity) => activity.capacity / capacity),
        spread(index, 0.569_840_291),
      ),
      behaviour: behaviourAt(shares, spread(index, 0.754_877_666)),
      clicks: index % 9 === 0 ? 3 : 1,
      arriveAtMs: Math.round((inRush ? 0 : (secondWaveAtMs ?? 0)) + position * rushMs),
      thinkShare: 0.05 + 0.75 * ((index * 37) % 100) * 0.01,
      locale: index % 2 === 0 ? 'zh' : 'en',
    };
  });
  return { activities, buyers: plans };
}

/** Points from 0 to 1 that fill it evenly however many there are: the two steps are those of the R2 sequence. */
function spread(index: number, step: number): number {
  return (0.5 + index * step) % 1;
}

function behaviourAt({ pay, payAtDeadline, cancel }: SaleShape['shares'], at: number): Behaviour {
  const others: readonly Behaviour[] = ['pay', 'pay-at-deadline', 'cancel'];
  return others[pick([pay, payAtDeadline, cancel, 1], at)] ?? 'lapse';
}

/** Which share of a whole a point falls into. */
function pick(shares: readonly number[], at: number): number {
  let end = 0;
  const found = shares.findIndex((share) => {
    end += share;
    return at < end;
  });
  return found === -1 ? shares.length - 1 : found;
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
