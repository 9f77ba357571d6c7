interface EffectOf<Kind extends string> {
  readonly id: string;
  readonly kind: Kind;
  readonly activityId: number;
  readonly orderIds: readonly string[];
}

interface ReacquiredOrder {
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
}

/** What a commit still owes Redis. The row in MySQL stays until Redis has it. */
export type PendingEffect =
  | EffectOf<'release' | 'confirm'>
  | (EffectOf<'reacquire'> & { readonly orders: readonly ReacquiredOrder[] })
  | (EffectOf<'capacity'> & { readonly version: number; readonly capacity: number });

type SettleAnswer = Promise<{ readonly kind: 'done' } | { readonly kind: 'not_ready' }>;

/** The few operations needed, so that this package imports neither the stock nor the repository. */
export interface EffectPorts {
  readonly stock: {
    release(activityId: number, orderIds: string[]): SettleAnswer;
    confirm(activityId: number, orderIds: string[]): SettleAnswer;
    reacquire(
      activityId: number,
      orders: ReacquiredOrder[],
    ): Promise<
      { readonly kind: 'done'; readonly notYet: readonly string[] } | { readonly kind: 'not_ready' }
    >;
    setCapacity(
      activityId: number,
      version: number,
      capacity: number,
    ): Promise<{ readonly kind: 'done' | 'not_yet' | 'not_ready' }>;
  };
  readonly orders: { markEffectsApplied(ids: string[]): Promise<unknown> };
  readonly log: { warn(fields: object, message: string): void };
}

export interface AppliedEffects {
  /** Effects that Redis has, and whose rows are gone, or will be: as `markEffectsApplied` sees to it. */
  readonly applied: number;
  /** Effects that stay in MySQL for the sweeper: Redis away, stock not loaded, not yet, or the mark failed. */
  readonly left: number;
}

/** Most calls to Redis at once: enough to fill its pipeline, few enough to bound memory. */
const callsAtOnceMax = 16;

/**
 * Bring Redis up to what MySQL has committed: one call per activity and kind, then one statement that
 * deletes the effects applied. Every kind is idempotent, per order or per version, so that a crash between
 * the two steps, or two processes with the same effects, only repeats a no-op.
 *
 * An effect of which Redis says "not yet" (MySQL has given out units that Redis still holds for an order which
 * MySQL refused) stays for the sweeper's next look; the others of the call are applied.
 *
 * Never throws: what does not succeed stays durable in MySQL and the sweeper applies it. It is logged
 * once per call, not once per effect.
 */
export async function applyEffects(
  { stock, orders, log }: EffectPorts,
  effects: readonly PendingEffect[],
): Promise<AppliedEffects> {
  const done: string[] = [];
  let fault: unknown;
  const groups = groupEffects(effects);
  for (let at = 0; at < groups.length; at += callsAtOnceMax) {
    const slice = groups.slice(at, at + callsAtOnceMax);
    const answers = await Promise.allSettled(slice.map(async (group) => applyGroup(stock, group)));
    for (const answer of answers) {
      if (answer.status === 'rejected') fault ??= answer.reason;
      else done.push(...answer.value);
    }
  }
  if (done.length > 0) {
    try {
      await orders.markEffectsApplied(done);
    } catch (error) {
      fault ??= error;
      done.length = 0;
    }
  }
  const left = effects.length - done.length;
  if (left > 0) log.warn({ left, err: fault }, 'stock effects left to the sweeper');
  return { applied: done.length, left };
}

/** Effects of one kind and activity, at least one, in the order in which they came. */
type EffectGroup = readonly PendingEffect[];

function groupEffects(effects: readonly PendingEffect[]): EffectGroup[] {
  const groups = new Map<string, PendingEffect[]>();
  for (const effect of effects) {
    const key = `${effect.kind}:${effect.activityId}`;
    const group = groups.get(key);
    if (group) group.push(effect);
    else groups.set(key, [effect]);
  }
  return [...groups.values()];
}

/** @returns the ids of the effects that Redis has now. */
async function applyGroup(stock: EffectPorts['stock'], group: EffectGroup): Promise<string[]> {
  const [first] = group;
  if (first === undefined) return [];
  const idsOf = (effects: EffectGroup): string[] => effects.map(({ id }) => id);
  const { activityId } = first;
  if (first.kind === 'capacity') return idsOf(await followCapacity(stock, group));
  if (first.kind === 'reacquire') {
    const again = group.flatMap((effect) => (effect.kind === 'reacquire' ? effect.orders : []));
    const answer = await stock.reacquire(activityId, again);
    if (answer.kind !== 'done') return [];
    const notYet = new Set(answer.notYet);
    return idsOf(group.filter(({ orderIds }) => !orderIds.some((id) => notYet.has(id))));
  }
  const answer = await stock[first.kind](
    activityId,
    group.flatMap(({ orderIds }) => [...orderIds]),
  );
  return answer.kind === 'done' ? idsOf(group) : [];
}

/** The newest capacity is the one that counts: once Redis has it, the older ones are over. */
async function followCapacity(stock: EffectPorts['stock'], group: EffectGroup): Promise<EffectGroup> {
  const changes = group.flatMap((effect) => (effect.kind === 'capacity' ? [effect] : []));
  const newest = changes.reduce((a, b) => (b.version > a.version ? b : a));
  const { kind } = await stock.setCapacity(newest.activityId, newest.version, newest.capacity);
  return kind === 'done' ? group : [];
}
