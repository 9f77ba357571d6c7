import type { OrderStatus, OutboxRow, Phase, TransitionCause } from '@lapse/contracts';
import type { CloseResult, NoticeStage, OrderRepository, StockEffect } from '@lapse/order-repository';
import type { Guards } from './guards.ts';
import { type ActivityRow, emptyTables, type OrderRow, type Tables } from './model-rows.ts';

/** Operations of the repository's port without the waiting: each is one committed transaction. */
export type AtOnce<Name extends keyof OrderRepository> = {
  [Key in Name]: OrderRepository[Key] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};

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

/** The tables, and the steps that several operations share. */
export interface Ledger extends Required<Omit<ModelOptions, 'later'>>, Pick<ModelOptions, 'later'> {
  readonly tables: Tables;
  /** Activities whose row a rebuild has locked. */
  readonly locked: Set<number>;
  /** @throws ActivityLockedError before anything is changed. */
  requireUnlocked(activityIds: readonly number[]): void;
  newId(kind: string): string;
  activityOf(id: number): ActivityRow;
  addOutbox(phase: Phase, rows: readonly OrderRow[]): OutboxRow;
  addEffect<Effect extends StockEffect>(effect: Effect): Effect;
  addSettleEffect(kind: 'release' | 'confirm', orders: readonly OrderRow[]): StockEffect;
  /** Not kept from a second one of its stage, as the real unique key does: the oracle is to see that nobody tries. */
  addNotice(orderId: string, stage: NoticeStage): void;
  move(
    order: OrderRow,
    to: OrderStatus,
    cause: TransitionCause,
    units: { credit?: number; debit?: number },
  ): void;
  closeRows(
    rows: readonly OrderRow[],
    to: 'TIMEOUT_CLOSED' | 'CANCELLED',
    cause: TransitionCause,
  ): Pick<CloseResult, 'closed' | 'effects'>;
}

/** The activity's row is locked by a rebuild: the caller waits and asks again. */
export class ActivityLockedError extends Error {
  readonly activityId: number;
  constructor(activityId: number) {
    super(`activity ${activityId} is locked`);
    this.activityId = activityId;
  }
}

export function createLedger(options: ModelOptions): Ledger {
  const { now } = options;
  const tables = emptyTables();
  const { activities, transitions, effects, outbox, notices, closedBatches } = tables;
  const locked = new Set<number>();
  let ids = 0;
  const newId = (kind: string): string => `${kind}-${++ids}`;

  function activityOf(id: number): ActivityRow {
    const activity = activities.get(id);
    if (!activity) throw new Error(`no activity ${id}`);
    return activity;
  }

  function requireUnlocked(activityIds: readonly number[]): void {
    const id = activityIds.find((activityId) => locked.has(activityId));
    if (id !== undefined) throw new ActivityLockedError(id);
  }

  function addEffect<Effect extends StockEffect>(effect: Effect): Effect {
    effects.set(effect.id, { effect, createdAtMs: now(), attempts: 0 });
    return effect;
  }

  /** All of one activity. */
  function addSettleEffect(kind: 'release' | 'confirm', orders: readonly OrderRow[]): StockEffect {
    const activityId = orders[0]?.activityId ?? 0;
    return addEffect({ id: newId('effect'), kind, activityId, orderIds: orders.map(({ id }) => id) });
  }

  const move: Ledger['move'] = (order, to, cause, { credit = 0, debit = 0 }) => {
    const from = order.status;
    order.status = to;
    order.version += 1;
    const { id: orderId, version } = order;
    transitions.push({ orderId, version, from, to, cause, atMs: now(), credit, debit });
  };

  return {
    dueNow: now,
    isLocked: () => false,
    ...options,
    tables,
    locked,
    requireUnlocked,
    newId,
    activityOf,
    addEffect,
    addSettleEffect,
    addNotice: (orderId, stage) => {
      const status = tables.orders.get(orderId)?.status ?? 'ABORTED';
      notices.push({
        ...{
          id: notices.length + 1,
          orderId,
          stage,
          status,
          state: 'WAITING',
          attempts: 0,
          attemptsBefore: 0,
        },
        ...{ nextAttemptMs: now(), claimedUntilMs: null },
      });
    },
    move,
    addOutbox: (phase, rows) => {
      const orders = rows.map((order) => ({
        orderId: order.id,
        activityId: order.activityId,
        userId: order.userId,
        createTime: order.createdAt.getTime(),
        dueTime: (phase === 1 ? order.remindAt : order.expiresAt).getTime(),
      }));
      const row: OutboxRow = { id: newId('outbox'), phase, orders };
      const dueAtMs = Math.min(...orders.map(({ dueTime }) => dueTime));
      outbox.set(row.id, {
        ...row,
        ...{ createdAtMs: now(), dueAtMs, isSwept: false, sentAtMs: null, claimedUntilMs: null, attempts: 0 },
      });
      return row;
    },
    closeRows: (rows, to, cause) => {
      requireUnlocked(rows.map(({ activityId }) => activityId));
      const closed = rows.map(({ id, activityId, quantity, expiresAt }) => {
        return { orderId: id, activityId, quantity, latenessMs: now() - expiresAt.getTime() };
      });
      for (const row of rows) {
        row.closedAt = new Date(now());
        move(row, to, cause, { credit: row.quantity });
        activityOf(row.activityId).available += row.quantity;
      }
      if (to === 'TIMEOUT_CLOSED' && rows.length > 0 && options.guards.closedNotice) {
        closedBatches.set(
          newId('closed'),
          rows.map(({ id }) => id),
        );
      }
      const activityIds = [...new Set(rows.map(({ activityId }) => activityId))];
      const released = (id: number) => rows.filter(({ activityId }) => activityId === id);
      return { closed, effects: activityIds.map((id) => addSettleEffect('release', released(id))) };
    },
  };
}
