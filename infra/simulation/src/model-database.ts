import type { OutboxRow, Phase, TransitionCause } from '@lapse/contracts';
import type {
  CancelResult,
  CloseResult,
  CreateOutcome,
  CreateResult,
  NewOrder,
  OrderRepository,
  PaymentEvent,
  PaymentResult,
  PaymentState,
  RemindResult,
  StockEffect,
  StockSnapshot,
  UnmovedOrders,
} from '@lapse/order-repository';
import type { Guards } from './guards.ts';
import { emptyTables, isActive, type OrderRow, type Tables, toOrderRow, untouched } from './model-rows.ts';

/** The operations of the repository's port that the model has, without the waiting: each is atomic. */
type Operations = Pick<
  OrderRepository,
  | 'cancelOrder'
  | 'claimOutbox'
  | 'closeExpired'
  | 'closeOverdue'
  | 'createActivity'
  | 'createOrders'
  | 'fenceOrphans'
  | 'findActiveOrder'
  | 'findOrdersByKey'
  | 'listActivities'
  | 'listPendingEffects'
  | 'markEffectsApplied'
  | 'markOutboxFailed'
  | 'markOutboxSent'
  | 'readActivity'
  | 'readStatuses'
  | 'rearm'
  | 'recordPayment'
  | 'remindPending'
>;
type AtOnce<Port> = {
  [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};

export interface ModelDatabase extends AtOnce<Operations> {
  readonly tables: Tables;
  /** Lock the activity and read what Redis must have. Undefined: no such activity. */
  beginRebuild(activityId: number): StockSnapshot | undefined;
  commitRebuild(snapshot: StockSnapshot): void;
  rollBackRebuild(activityId: number): void;
}

export interface ModelOptions {
  readonly guards: Guards;
  /** NOW(3). */
  readonly now: () => number;
  /** The clock that says what is due: `now`, except in the control without `databaseClock`. */
  readonly dueNow?: () => number;
  /** Whether another transaction holds the order's row just now: skipped, not waited for. */
  readonly isLocked?: (orderId: string) => boolean;
  /** Only without `compareAndSet`: run the second half of a close later. */
  readonly later?: (run: () => void) => void;
}

/** The activity's row is locked by a rebuild. Thrown before anything is changed: the caller waits and asks again. */
export class ActivityLockedError extends Error {
  readonly activityId: number;
  constructor(activityId: number) {
    super(`activity ${activityId} is locked`);
    this.activityId = activityId;
  }
}

/**
 * MySQL, as the repository's port shows it: what each operation answers and leaves behind, without SQL. One call
 * is one committed transaction. test/model-database.test.ts holds it against the real one.
 */
export function createModelDatabase(options: ModelOptions): ModelDatabase {
  const { guards, now, dueNow = now, isLocked = () => false } = options;
  const tables = emptyTables();
  const { activities, orders, transitions, effects, outbox, notices, payments } = tables;
  const locked = new Set<number>();
  let ids = 0;
  const newId = (kind: string): string => `${kind}-${++ids}`;

  function activityOf(id: number) {
    const activity = activities.get(id);
    if (!activity) throw new Error(`no activity ${id}`);
    return activity;
  }

  function requireUnlocked(activityIds: readonly number[]): void {
    const id = activityIds.find((activityId) => locked.has(activityId));
    if (id !== undefined) throw new ActivityLockedError(id);
  }

  function addOutbox(phase: Phase, rows: readonly OrderRow[], due: 'remindAt' | 'expiresAt'): OutboxRow {
    const row: OutboxRow = {
      id: newId('outbox'),
      phase,
      orders: rows.map((order) => ({
        orderId: order.id,
        activityId: order.activityId,
        userId: order.userId,
        createTime: order.createdAt.getTime(),
        dueTime: order[due].getTime(),
      })),
    };
    outbox.set(row.id, { ...row, createdAtMs: now(), sentAtMs: null, claimedUntilMs: null, attempts: 0 });
    return row;
  }

  function addEffect<Effect extends StockEffect>(effect: Effect): Effect {
    effects.set(effect.id, { effect, createdAtMs: now(), attempts: 0 });
    return effect;
  }

  function addSettleEffect(kind: 'release' | 'confirm', activityId: number, rows: readonly { id: string }[]) {
    return addEffect({ id: newId('effect'), kind, activityId, orderIds: rows.map(({ id }) => id) });
  }

  function move(order: OrderRow, to: OrderRow['status'], cause: TransitionCause, credit: number): void {
    const from = order.status;
    order.status = to;
    order.version += 1;
    transitions.push({ orderId: order.id, version: order.version, from, to, cause, atMs: now(), credit });
  }

  /** Why each of these orders cannot be inserted, in the repository's precedence: key, id, buyer. */
  function conflictOf(order: NewOrder): CreateResult | undefined {
    const rows = [...orders.values()];
    const sameKey = rows.find(
      (row) => row.userId === order.userId && row.idempotencyKey === order.idempotencyKey,
    );
    if (sameKey && guards.idempotencyKey) return { kind: 'same_key', order: { ...sameKey } };
    if (orders.has(order.id)) return { kind: 'stale_generation' };
    const holder = rows.find(
      (row) => row.userId === order.userId && row.activityId === order.activityId && isActive(row),
    );
    return holder && { kind: 'already_holding', order: { ...holder } };
  }

  function writeWave(wave: readonly NewOrder[], results: Map<NewOrder, CreateResult>): OutboxRow | null {
    const created: OrderRow[] = [];
    for (const order of wave) {
      const activity = activities.get(order.activityId);
      const isStale = guards.generationFence && activity?.generation !== order.generation;
      const isShort = guards.conditionalDecrement && (activity?.available ?? 0) < order.quantity;
      let result = conflictOf(order);
      if (!result && (isStale || !activity)) result = { kind: 'stale_generation' };
      if (!result && isShort) result = { kind: 'sold_out' };
      results.set(order, result ?? { kind: 'created' });
      if (result || !activity) continue;
      activity.available -= order.quantity;
      const row = toOrderRow(order);
      orders.set(row.id, row);
      transitions.push({
        orderId: row.id,
        version: 1,
        from: null,
        to: 'PENDING',
        cause: 'create',
        atMs: now(),
        credit: 0,
      });
      created.push(row);
    }
    return created.length > 0 ? addOutbox(1, created, 'remindAt') : null;
  }

  function createOrders(input: readonly NewOrder[]): CreateOutcome {
    requireUnlocked(input.map(({ activityId }) => activityId));
    const results = new Map<NewOrder, CreateResult>();
    let first: OutboxRow | null = null;
    let waiting = input;
    while (waiting.length > 0) {
      const row = writeWave(withoutRivals(waiting), results);
      first ??= row;
      waiting = waiting.filter((order) => !results.has(order));
      for (const order of waiting) {
        const conflict = conflictOf(order);
        if (conflict) results.set(order, conflict);
      }
      waiting = waiting.filter((order) => !results.has(order));
    }
    return { results: input.map((order) => results.get(order) ?? { kind: 'sold_out' }), outbox: first };
  }

  /** Sorts ids into those to move and the rest, as the locking read and the look at what it passed over do. */
  function sortOut(
    ids: readonly string[],
    due: 'remindAt' | 'expiresAt',
    isSettled: (row: OrderRow) => boolean,
  ): { readonly rows: OrderRow[]; readonly unmoved: UnmovedOrders } {
    const rows: OrderRow[] = [];
    const notDue: { orderId: string; dueInMs: number }[] = [];
    const lists = { contended: [] as string[], settled: [] as string[], unknown: [] as string[] };
    for (const orderId of [...new Set(ids)].sort()) {
      const row = orders.get(orderId);
      const dueInMs = row ? row[due].getTime() - dueNow() : 0;
      if (!row) lists.unknown.push(orderId);
      else if (isSettled(row)) lists.settled.push(orderId);
      else if (dueInMs > 0) notDue.push({ orderId, dueInMs });
      else if (isLocked(orderId)) lists.contended.push(orderId);
      else rows.push(row);
    }
    return { rows, unmoved: { notDue, settling: [], ...lists, parked: [] } };
  }

  function closeRows(
    rows: readonly OrderRow[],
    to: 'TIMEOUT_CLOSED' | 'CANCELLED',
    cause: TransitionCause,
  ): Pick<CloseResult, 'closed' | 'effects'> {
    requireUnlocked(rows.map(({ activityId }) => activityId));
    const closed = rows.map((row) => ({
      orderId: row.id,
      activityId: row.activityId,
      quantity: row.quantity,
      latenessMs: now() - row.expiresAt.getTime(),
    }));
    for (const row of rows) {
      row.closedAt = new Date(now());
      move(row, to, cause, row.quantity);
      activityOf(row.activityId).available += row.quantity;
      if (to === 'TIMEOUT_CLOSED') notices.push({ orderId: row.id, stage: 'CLOSED', status: row.status });
    }
    const activityIds = [...new Set(rows.map(({ activityId }) => activityId))];
    const released = (activityId: number) => rows.filter((row) => row.activityId === activityId);
    return {
      closed,
      effects: activityIds.map((activityId) => addSettleEffect('release', activityId, released(activityId))),
    };
  }

  /** The control without `compareAndSet` writes what it read a moment ago, whatever became of it. */
  function closeOrLater(rows: readonly OrderRow[], cause: TransitionCause) {
    if (guards.compareAndSet || !options.later || rows.length === 0) {
      return closeRows(rows, 'TIMEOUT_CLOSED', cause);
    }
    requireUnlocked(rows.map(({ activityId }) => activityId));
    options.later(() => void closeRows(rows, 'TIMEOUT_CLOSED', cause));
    return { closed: [], effects: [] };
  }

  function recordPayment(event: PaymentEvent): PaymentResult {
    const order = orders.get(event.orderId);
    const { eventId, paymentId, type, orderId } = event;
    const same = payments.find((row) => row.paymentId === paymentId && row.type === type);
    const known = same ?? payments.find((row) => row.eventId === eventId);
    if (!order) {
      if (known) return { outcome: same?.state === 'WAITING' ? 'kept' : 'duplicate' };
      const isCapture = type === 'payment.captured';
      payments.push({ eventId, paymentId, type, orderId, state: isCapture ? 'WAITING' : 'FAILED' });
      return { outcome: isCapture ? 'kept' : 'ignored' };
    }
    const waits = same?.state === 'WAITING' && same.orderId === orderId;
    if (known && !waits && guards.paymentOnce) return { outcome: 'duplicate', order: { ...order } };
    const { outcome, state } = judge(order, event);
    if (waits && same) same.state = state;
    else payments.push({ eventId, paymentId, type, orderId, state });
    if (outcome !== 'paid') return { outcome, order: { ...order } };
    order.paidAt = new Date(now());
    move(order, 'PAID', 'payment', 0);
    return { outcome, order: { ...order }, effect: addSettleEffect('confirm', order.activityId, [order]) };
  }

  return {
    tables,
    createActivity: (body) => {
      const id = activities.size + 1;
      const { saleStartsAt, saleEndsAt, ...rest } = body;
      activities.set(id, {
        ...rest,
        id,
        available: body.capacity,
        saleStartsAt: saleStartsAt === null ? null : new Date(saleStartsAt),
        saleEndsAt: saleEndsAt === null ? null : new Date(saleEndsAt),
        generation: 1,
        capacityVersion: 1,
        createdAt: new Date(now()),
      });
      return { ...activityOf(id) };
    },
    readActivity: (id) => (activities.has(id) ? { ...activityOf(id) } : undefined),
    listActivities: ({ afterId, limit }) =>
      [...activities.values()]
        .filter(({ id }) => id > afterId)
        .slice(0, limit)
        .map((activity) => ({ ...activity })),
    createOrders,
    findOrdersByKey: (keys) =>
      keys.map(({ userId, idempotencyKey }) => {
        const found = [...orders.values()].find(
          (row) => row.userId === userId && row.idempotencyKey === idempotencyKey,
        );
        return found && guards.idempotencyKey ? { ...found } : undefined;
      }),
    findActiveOrder: (activityId, userId) => {
      const found = [...orders.values()].find(
        (row) => row.activityId === activityId && row.userId === userId && isActive(row),
      );
      return found && { ...found };
    },
    cancelOrder: (id, userId): CancelResult => {
      const order = orders.get(id);
      if (order?.userId !== userId) return { kind: 'not_found' };
      if (order.status !== 'PENDING') return { kind: 'not_pending', order: { ...order } };
      const [effect] = closeRows([order], 'CANCELLED', 'buyer').effects;
      return effect ? { kind: 'cancelled', order: { ...order }, effect } : { kind: 'not_found' };
    },
    recordPayment,
    closeExpired: (ids, { cause }): CloseResult => {
      const { rows, unmoved } = sortOut(ids, 'expiresAt', ({ status }) => status !== 'PENDING');
      return { ...unmoved, ...closeOrLater(rows, cause) };
    },
    closeOverdue: ({ graceMs, limit }) => {
      const due = [...orders.values()]
        .filter(({ status, expiresAt }) => status === 'PENDING' && expiresAt.getTime() <= dueNow() - graceMs)
        .filter(({ id }) => !isLocked(id))
        .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
        .slice(0, limit);
      return { ...noneUnmoved, ...closeOrLater(due, 'sweep'), found: due.length };
    },
    remindPending: (ids): RemindResult => {
      const isSettled = ({ status, remindedAt }: OrderRow): boolean =>
        guards.reminderClaim && (status !== 'PENDING' || remindedAt !== null);
      const { rows, unmoved } = sortOut(ids, 'remindAt', isSettled);
      for (const row of rows) {
        row.remindedAt = new Date(now());
        if (row.expiresAt.getTime() <= now()) continue;
        notices.push({ orderId: row.id, stage: 'REMINDER', status: row.status });
      }
      return {
        ...unmoved,
        reminded: rows.map((row) => ({
          orderId: row.id,
          activityId: row.activityId,
          userId: row.userId,
          expiresAt: row.expiresAt.getTime(),
          latenessMs: now() - row.remindAt.getTime(),
        })),
        outbox: rows.length > 0 ? addOutbox(2, rows, 'expiresAt') : null,
      };
    },
    rearm: (phase, ids) => {
      const open = [...new Set(ids)]
        .sort()
        .flatMap((id) => orders.get(id) ?? [])
        .filter(({ status, remindedAt }) => status === 'PENDING' && (phase === 2 || remindedAt === null));
      return open.length > 0 ? addOutbox(phase, open, phase === 1 ? 'remindAt' : 'expiresAt') : null;
    },
    readStatuses: (ids) =>
      new Map(ids.flatMap((id) => orders.get(id) ?? []).map(({ id, status }) => [id, status])),
    fenceOrphans: (holds) => {
      for (const hold of guards.orphanFence ? holds : []) {
        if (!orders.has(hold.orderId)) orders.set(hold.orderId, fenceRow(hold, new Date(now())));
      }
      const isFenced = (id: string): boolean => (orders.get(id)?.status ?? 'ABORTED') === 'ABORTED';
      return {
        fenced: holds.map(({ orderId }) => orderId).filter(isFenced),
        present: holds
          .filter(({ orderId }) => !isFenced(orderId))
          .map(({ orderId }) => ({ orderId, status: orders.get(orderId)?.status ?? 'ABORTED' })),
      };
    },
    listPendingEffects: ({ olderThanMs, limit }) => {
      const left = [...effects.values()]
        .filter(({ createdAtMs }) => createdAtMs <= now() - olderThanMs)
        .sort((a, b) => a.attempts - b.attempts || a.createdAtMs - b.createdAtMs)
        .slice(0, limit);
      for (const effect of left) effect.attempts += 1;
      return left.map(({ effect }) => effect);
    },
    markEffectsApplied: (done) => {
      for (const id of done) effects.delete(id);
    },
    claimOutbox: ({ olderThanMs, limit, leaseMs }) => {
      const free = [...outbox.values()]
        .filter(({ sentAtMs, createdAtMs }) => sentAtMs === null && createdAtMs <= now() - olderThanMs)
        .filter(({ claimedUntilMs }) => claimedUntilMs === null || claimedUntilMs <= now())
        .sort((a, b) => a.createdAtMs - b.createdAtMs)
        .slice(0, limit);
      for (const row of free) {
        row.claimedUntilMs = now() + leaseMs;
        row.attempts += 1;
      }
      return free.map(({ id, phase, orders: due }) => ({ id, phase, orders: due }));
    },
    markOutboxSent: (sent) => {
      for (const { id } of sent) {
        const row = outbox.get(id);
        if (row) row.sentAtMs ??= now();
      }
    },
    markOutboxFailed: (failed) => {
      for (const id of failed) {
        const row = outbox.get(id);
        if (row?.sentAtMs !== null) continue;
        row.claimedUntilMs = now() + Math.min(Math.max(row.attempts, 1), 5) * 1_000;
      }
    },
    beginRebuild: (activityId) => {
      requireUnlocked([activityId]);
      const activity = activities.get(activityId);
      if (!activity) return undefined;
      locked.add(activityId);
      const active = [...orders.values()].filter((row) => row.activityId === activityId && isActive(row));
      return {
        activityId,
        generation: activity.generation + 1,
        capacity: activity.capacity,
        capacityVersion: activity.capacityVersion,
        available: activity.available,
        holds: active.map(({ id, userId, quantity, status }) => ({
          orderId: id,
          userId,
          quantity,
          state: status === 'PAID' ? 'sold' : 'held',
        })),
      };
    },
    commitRebuild: ({ activityId, generation, holds }) => {
      locked.delete(activityId);
      activityOf(activityId).generation = generation;
      const paid = holds.filter(
        ({ orderId, state }) => state === 'held' && orders.get(orderId)?.status === 'PAID',
      );
      const ids = paid.map(({ orderId }) => ({ id: orderId }));
      if (ids.length > 0) addSettleEffect('confirm', activityId, ids);
    },
    rollBackRebuild: (activityId) => {
      locked.delete(activityId);
    },
  };
}

const noneUnmoved: UnmovedOrders = {
  notDue: [],
  settling: [],
  contended: [],
  settled: [],
  unknown: [],
  parked: [],
};

/** The first of each set of orders that cannot all be: same id, same key, or same buyer in one activity. */
function withoutRivals(orders: readonly NewOrder[]): NewOrder[] {
  const seen = new Set<string>();
  return orders.filter(({ id, activityId, userId, idempotencyKey }) => {
    const names = [`id ${id}`, `key ${idempotencyKey} ${userId}`, `buyer ${activityId} ${userId}`];
    if (names.some((name) => seen.has(name))) return false;
    for (const name of names) seen.add(name);
    return true;
  });
}

function judge(
  order: OrderRow,
  event: PaymentEvent,
): { readonly outcome: 'ignored' | 'paid' | 'quarantined' | 'refund_pending'; readonly state: PaymentState } {
  if (event.type === 'payment.failed') return { outcome: 'ignored', state: 'FAILED' };
  if (order.status === 'ABORTED') return { outcome: 'refund_pending', state: 'REFUND_PENDING' };
  if (event.amountMinor !== order.amountMinor || event.currency !== order.currency) {
    return { outcome: 'quarantined', state: 'QUARANTINED' };
  }
  if (order.status === 'PENDING') return { outcome: 'paid', state: 'CAPTURED' };
  return { outcome: 'refund_pending', state: 'REFUND_PENDING' };
}

function fenceRow(
  hold: {
    readonly orderId: string;
    readonly activityId: number;
    readonly userId: string;
    readonly quantity: number;
  },
  at: Date,
): OrderRow {
  const { orderId: id, activityId, userId, quantity } = hold;
  return {
    ...untouched,
    ...{ id, activityId, userId, quantity, amountMinor: 0, currency: '', locale: '', status: 'ABORTED' },
    ...{ createdAt: at, remindAt: at, expiresAt: at, closedAt: at },
    ...{ idempotencyKey: '', requestHash: Buffer.alloc(32) },
  };
}
