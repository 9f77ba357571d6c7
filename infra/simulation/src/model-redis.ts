import type {
  CapacityResult,
  Hold,
  LoadedStock,
  ReacquiredOrder,
  ReacquireResult,
  ReserveResult,
  SettleResult,
  Stock,
} from '@lapse/stock';
import type { Guards } from './guards.ts';

type Snapshot = Parameters<Stock['load']>[0];
type Reservation = Parameters<Stock['reserve']>[0];
type HoldRow = { -readonly [Key in keyof Hold]: Hold[Key] };

/** The keys of an activity. */
export interface StockState {
  /** Name of the load that is there. */
  token: string;
  generation: number;
  stock: number;
  /** What stock, held and sold units add up to, as of this version. */
  capacity: number;
  capacityVersion: number;
  readonly users: Set<string>;
  readonly holds: Map<string, HoldRow>;
  /** Buyers who may have had an order; null: anybody. The real one is a bitmap, which takes few others for them. */
  readonly seen: Set<string> | null;
}

/** A copy of everything, as a file on the disk of Redis would keep it. */
export interface RedisCopy {
  readonly activities: ReadonlyMap<number, StockState>;
  readonly unloaded: ReadonlyMap<number, string>;
}

export interface ModelRedis {
  readonly activities: Map<number, StockState>;
  /** Which server it is: a restart is another one. */
  runId(): string;
  reserve(reservation: Reservation): ReserveResult;
  release(activityId: number, orderIds: readonly string[]): SettleResult;
  confirm(activityId: number, orderIds: readonly string[]): SettleResult;
  reacquire(activityId: number, orders: readonly ReacquiredOrder[]): ReacquireResult;
  setCapacity(activityId: number, version: number, capacity: number): CapacityResult;
  /** Throws, with nothing changed, when another load than `replaces` is there. */
  load(snapshot: Snapshot, replaces: string): string;
  readLoadToken(activityId: number): string;
  readLoad(activityId: number): LoadedStock | null;
  old(activityId: number, ages: { readonly heldMs: number; readonly releasedMs: number }): Hold[];
  forgetReleased(activityId: number, orderIds: readonly string[], olderThanMs: number): number;
  /** FLUSHALL, or a restart without a file. */
  flush(): void;
  copy(): RedisCopy;
  /** A restart from an older file, or a failover to a replica that lagged. */
  rollBack(copy: RedisCopy): void;
}

/**
 * Redis, as the scripts of packages/stock leave it: each call is one script, so nothing comes between its steps.
 * test/model-redis.test.ts holds it against the real one.
 * @param now the clock of Redis's own machine.
 */
export function createModelRedis({
  guards,
  now,
}: {
  readonly guards: Guards;
  readonly now: () => number;
}): ModelRedis {
  let activities = new Map<number, StockState>();
  /** Names for what is not loaded. */
  let unloaded = new Map<number, string>();
  let starts = 1;
  let loads = 0;
  const tokenOf = (activityId: number): string =>
    activities.get(activityId)?.token ?? unloaded.get(activityId) ?? '';
  const runId = (): string => (guards.runIdFence ? `run ${starts}` : 'run 1');

  function settle(
    activityId: number,
    orderIds: readonly string[],
    one: (state: StockState, orderId: string) => number,
  ): SettleResult {
    const state = activities.get(activityId);
    if (!state) return { kind: 'not_ready' };
    const seen = new Set<string>();
    const units = orderIds.map((orderId) => {
      if (seen.has(orderId)) return 0;
      seen.add(orderId);
      return one(state, orderId);
    });
    return { kind: 'done', units };
  }

  function releaseOne(state: StockState, orderId: string): number {
    const hold = state.holds.get(orderId);
    const isHeld = hold?.state === 'held' || (!guards.holdsState && hold !== undefined);
    if (hold && !isHeld) return 0;
    const quantity = hold?.quantity ?? 0;
    state.stock += quantity;
    if (hold) state.users.delete(hold.userId);
    // The control looks at the units in the marker, and gives them back with each release.
    const userId = guards.holdsState ? '' : (hold?.userId ?? '');
    const heldFromMs = hold?.atMs ?? null;
    state.holds.set(orderId, { orderId, userId, quantity, state: 'released', atMs: now(), heldFromMs });
    return quantity;
  }

  function confirmOne(state: StockState, orderId: string): number {
    const hold = state.holds.get(orderId);
    if (hold?.state !== 'held') return 0;
    hold.state = 'sold';
    return hold.quantity;
  }

  /** @returns false where it is not yet possible. */
  function reacquireOne(state: StockState, { orderId, userId, quantity }: ReacquiredOrder): boolean {
    const hold = state.holds.get(orderId);
    if (hold?.state === 'sold') return true;
    if (hold?.state === 'held') {
      hold.state = 'sold';
      return true;
    }
    if (state.users.has(userId) || state.stock < quantity) return false;
    state.stock -= quantity;
    state.users.add(userId);
    state.seen?.add(userId);
    state.holds.set(orderId, { orderId, userId, quantity, state: 'sold', atMs: now(), heldFromMs: null });
    return true;
  }

  return {
    get activities() {
      return activities;
    },
    runId,
    reserve: ({ activityId, generation, stockRunId, orderId, userId, quantity }) => {
      if (stockRunId !== runId()) return { kind: 'not_ready' };
      const state = activities.get(activityId);
      if (!state || (guards.generationFence && state.generation !== generation)) return { kind: 'not_ready' };
      const known = state.holds.get(orderId);
      if (known?.state === 'released') return { kind: 'released' };
      if (known) {
        if (known.userId === userId && known.quantity === quantity) return { kind: 'reserved' };
        throw new Error(`Redis refused: order ${orderId} is held otherwise`);
      }
      if (state.users.has(userId)) return { kind: 'user_holds' };
      if (state.stock < quantity) {
        return { kind: state.seen?.has(userId) === false ? 'sold_out_newcomer' : 'sold_out' };
      }
      if (guards.reserveSeen) state.seen?.add(userId);
      state.stock -= quantity;
      state.users.add(userId);
      state.holds.set(orderId, { orderId, userId, quantity, state: 'held', atMs: now(), heldFromMs: null });
      return { kind: 'reserved' };
    },
    release: (activityId, orderIds) => settle(activityId, orderIds, releaseOne),
    confirm: (activityId, orderIds) => settle(activityId, orderIds, confirmOne),
    reacquire: (activityId, orders) => {
      const state = activities.get(activityId);
      if (!state) return { kind: 'not_ready' };
      const notYet = orders.filter((order) => !reacquireOne(state, order)).map(({ orderId }) => orderId);
      return { kind: 'done', notYet };
    },
    setCapacity: (activityId, version, capacity) => {
      const state = activities.get(activityId);
      if (!state) return { kind: 'not_ready' };
      if (state.capacityVersion >= version) return { kind: 'done' };
      const move = capacity - state.capacity;
      const isShort = state.stock + move < 0;
      if (!isShort) state.capacityVersion = version;
      const moved = isShort ? -state.stock : move;
      state.stock += moved;
      state.capacity += moved;
      return { kind: isShort ? 'not_yet' : 'done' };
    },
    load: ({ holds, formerBuyers, ...snapshot }, replaces) => {
      const { activityId, generation, capacity, capacityVersion, stock } = snapshot;
      const isLate = tokenOf(activityId) !== replaces;
      if (guards.loadToken && isLate) throw new Error(`activity ${activityId} was loaded meanwhile`);
      loads += 1;
      activities.set(activityId, {
        token: `load ${loads}`,
        generation,
        stock,
        capacity,
        capacityVersion,
        users: new Set(holds.map(({ userId }) => userId)),
        holds: new Map(holds.map((hold) => [hold.orderId, { ...hold, atMs: now(), heldFromMs: null }])),
        seen: formerBuyers && new Set([...holds.map(({ userId }) => userId), ...formerBuyers]),
      });
      return runId();
    },
    readLoadToken: (activityId) => {
      if (guards.emptinessNamed && tokenOf(activityId) === '') unloaded.set(activityId, `none ${++loads}`);
      return tokenOf(activityId);
    },
    readLoad: (id) => {
      const generation = activities.get(id)?.generation;
      return generation === undefined ? null : { generation, runId: runId() };
    },
    old: (activityId, { heldMs, releasedMs }) => {
      const ages = { held: heldMs, released: releasedMs, sold: Number.POSITIVE_INFINITY };
      return [...(activities.get(activityId)?.holds.values() ?? [])]
        .filter(({ state, atMs }) => now() - atMs >= ages[state])
        .map((hold) => ({ ...hold }));
    },
    forgetReleased: (activityId, orderIds, olderThanMs) => {
      const holds = activities.get(activityId)?.holds ?? new Map<string, HoldRow>();
      const old = orderIds.filter((orderId) => {
        const hold = holds.get(orderId);
        return hold?.state === 'released' && hold.atMs <= now() - olderThanMs;
      });
      for (const orderId of old) holds.delete(orderId);
      return old.length;
    },
    flush: () => {
      activities = new Map();
      unloaded = new Map();
    },
    copy: () => ({ activities: copyOf(activities), unloaded: new Map(unloaded) }),
    rollBack: (copy) => {
      starts += 1;
      activities = copyOf(copy.activities);
      unloaded = new Map(copy.unloaded);
    },
  };
}

function copyOf(activities: RedisCopy['activities']): Map<number, StockState> {
  return new Map(
    [...activities].map(([id, { users, holds, seen, ...numbers }]) => [
      id,
      {
        ...numbers,
        users: new Set(users),
        seen: seen && new Set(seen),
        holds: new Map([...holds].map(([orderId, hold]) => [orderId, { ...hold }])),
      },
    ]),
  );
}
