import type { Activity, OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import type { Difference, DifferenceKind } from './compare-stock.ts';
import { rebuildStock } from './rebuild-stock.ts';

export interface HealPorts {
  readonly orders: Pick<OrderRepository, 'fenceOrphans' | 'rebuildSnapshot'>;
  readonly stock: Pick<
    Stock,
    'confirm' | 'load' | 'readLoad' | 'readLoadToken' | 'reacquire' | 'release' | 'reserve'
  >;
  readonly log: Logger;
}

export type HealAction = 'reserve' | 'reacquire' | 'confirm' | 'release' | 'fence_and_release' | 'rebuild';

/** More than this in one activity is a store that went back in time: one load is quicker, and surely right. */
const ordersHealedMax = 100;

/** What mends one order alone. All else is mended by loading the activity again. */
const actions: Partial<Record<DifferenceKind, HealAction>> = {
  hold_missing: 'reserve',
  sale_missing: 'reacquire',
  sale_unconfirmed: 'confirm',
  hold_left: 'release',
  hold_without_order: 'fence_and_release',
};

/**
 * What is to be done about an activity's drift: order by order when every difference has an action of its own, or a
 * rebuild. A counter that is off rules out the first: each action moves it by the order's units, and keeps the error.
 * So does a marker of a released order that is pending in MySQL: no reserve gets past it.
 */
export function chooseAction(drift: readonly Difference[], kind: DifferenceKind): HealAction {
  const isOrderly = drift.every(
    ({ kind: each, hold }) => actions[each] !== undefined && !(each === 'hold_missing' && hold !== undefined),
  );
  return (isOrderly && drift.length <= ordersHealedMax ? actions[kind] : undefined) ?? 'rebuild';
}

/**
 * Mend drift, order by order or by loading the activity again. Every action is idempotent, and one that the order has outrun meanwhile does nothing: the scripts look
 * at the hold, the fence looks at the order, and a rebuild reads MySQL under the activity's lock.
 * @returns whether the activity was loaded again.
 */
export async function healStock(
  ports: HealPorts,
  activity: Pick<Activity, 'id' | 'generation' | 'stockRunId'>,
  drift: readonly Difference[],
): Promise<boolean> {
  const orderly = drift.every(({ kind }) => chooseAction(drift, kind) !== 'rebuild');
  if (orderly && (await healOrders(ports, activity, drift))) return false;
  const isSame = (load: { generation: number } | null) => load?.generation === activity.generation;
  const why = 'stock in Redis had drifted from MySQL: rebuilt';
  return rebuildStock(ports, activity.id, why, isSame);
}

/** @returns false when something could not be mended alone. */
async function healOrders(
  { orders, stock }: HealPorts,
  { id: activityId, generation, stockRunId }: Pick<Activity, 'id' | 'generation' | 'stockRunId'>,
  drift: readonly Difference[],
): Promise<boolean> {
  const of = (kind: DifferenceKind): Difference[] => drift.filter((difference) => difference.kind === kind);
  const idsOf = (kind: DifferenceKind): string[] => of(kind).map(({ subject }) => subject);
  // What gives units back comes first: what takes them may need these.
  const unwritten = of('hold_without_order').flatMap(({ hold }) => hold ?? []);
  const { fenced } = await orders.fenceOrphans(unwritten.map((hold) => ({ ...hold, activityId })));
  const ended = [...fenced, ...idsOf('hold_left')];
  if (ended.length > 0) await stock.release(activityId, ended);
  const paid = idsOf('sale_unconfirmed');
  if (paid.length > 0) await stock.confirm(activityId, paid);

  const sold = of('sale_missing').flatMap(({ order }) => order ?? []);
  if (sold.length > 0) {
    const answer = await stock.reacquire(activityId, sold);
    if (answer.kind !== 'done' || answer.notYet.length > 0) return false;
  }
  for (const { order } of of('hold_missing')) {
    if (order === undefined) continue;
    const { kind } = await stock.reserve({ activityId, generation, stockRunId, ...order });
    // Released: it has closed meanwhile, and this came too late to take anything.
    if (kind !== 'reserved' && kind !== 'released') return false;
  }
  return true;
}
