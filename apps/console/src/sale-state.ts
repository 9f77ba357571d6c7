import type { Activity, DueDeadlines } from '@lapse/order-repository';
import type { SaleState } from './live-states.ts';

/** A sale as a buyer sees it at this moment. */
export function saleState(activity: Activity, due: DueDeadlines | undefined, nowMs: number): SaleState {
  const { id, name, capacity, available, priceMinor, currency, saleStartsAt, saleEndsAt, payWithinMs } =
    activity;
  const phase = phaseOf(activity, nowMs);
  return {
    id,
    name,
    capacity,
    available,
    priceMinor,
    currency,
    phase,
    opensAt: saleStartsAt?.toISOString() ?? null,
    endsAt: saleEndsAt?.toISOString() ?? null,
    payWithinMs,
    returns: phase === 'sold_out' ? nextReturn(id, due) : null,
  };
}

function phaseOf(
  { available, saleStartsAt, saleEndsAt, salePausedAt }: Activity,
  nowMs: number,
): SaleState['phase'] {
  if (saleStartsAt && nowMs < saleStartsAt.getTime()) return 'soon';
  if (saleEndsAt && nowMs >= saleEndsAt.getTime()) return 'ended';
  if (salePausedAt) return 'paused';
  return available > 0 ? 'open' : 'sold_out';
}

/** Deadlines of one second count together: they come back together. */
const togetherMs = 1_000;

function nextReturn(activityId: number, due: DueDeadlines | undefined): SaleState['returns'] {
  if (due === undefined) return 'unknown';
  const own = due.deadlines.filter((deadline) => deadline.activityId === activityId);
  const [first] = own;
  if (first === undefined) return due.cut ? 'unknown' : null;
  const untilMs = first.expiresAt.getTime() + togetherMs;
  const places = own.reduce(
    (sum, { expiresAt, quantity }) => (expiresAt.getTime() < untilMs ? sum + quantity : sum),
    0,
  );
  return { at: first.expiresAt.toISOString(), places };
}
