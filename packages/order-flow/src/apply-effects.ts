/** What a committed batch still owes Redis. The row in MySQL stays until Redis has it. */
export interface PendingEffect {
  readonly id: string;
  readonly kind: 'release' | 'confirm';
  readonly activityId: number;
  readonly orderIds: readonly string[];
}

type StockAnswer = Promise<{ readonly kind: 'done' } | { readonly kind: 'not_ready' }>;

/** The few operations needed, so that this package imports neither the stock nor the repository. */
export interface EffectPorts {
  readonly stock: {
    release(activityId: number, orderIds: string[]): StockAnswer;
    confirm(activityId: number, orderIds: string[]): StockAnswer;
  };
  readonly orders: { markEffectsApplied(ids: string[]): Promise<unknown> };
  readonly log: { warn(fields: object, message: string): void };
}

export interface AppliedEffects {
  /** Effects that Redis has, and whose rows are gone. */
  readonly applied: number;
  /** Effects that stay in MySQL for the sweeper: Redis away, stock not loaded, or the mark failed. */
  readonly left: number;
}

/** Most calls to Redis at once: enough to fill its pipeline, few enough to bound memory. */
const callsAtOnceMax = 16;

/**
 * Bring Redis up to what MySQL has committed: one call per activity and kind, then one statement that
 * deletes the effects applied. Releases and confirms are idempotent per order, so that a crash between
 * the two steps, or two processes with the same effects, only repeats a no-op.
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
    const answers = await Promise.allSettled(
      slice.map(async (group) => stock[group.kind](group.activityId, group.orderIds)),
    );
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') fault ??= answer.reason;
      else if (answer.value.kind === 'done') done.push(...(slice[index]?.effectIds ?? []));
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

interface EffectGroup {
  readonly kind: PendingEffect['kind'];
  readonly activityId: number;
  readonly orderIds: string[];
  readonly effectIds: string[];
}

/** One group per kind and activity, in the order in which they first appear. */
function groupEffects(effects: readonly PendingEffect[]): EffectGroup[] {
  const groups = new Map<string, EffectGroup>();
  for (const { id, kind, activityId, orderIds } of effects) {
    const key = `${kind}:${activityId}`;
    const group = groups.get(key) ?? { kind, activityId, orderIds: [], effectIds: [] };
    group.orderIds.push(...orderIds);
    group.effectIds.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}
