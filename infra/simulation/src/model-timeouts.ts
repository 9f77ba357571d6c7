import type { OutboxRow, TransitionCause } from '@lapse/contracts';
import type { ReminderSweep, RemindResult, UnmovedOrders } from '@lapse/order-repository';
import type { AtOnce, Ledger } from './model-ledger.ts';
import { isOpen, type OrderRow, toOrder } from './model-rows.ts';

type Operations = AtOnce<
  'cancelOrder' | 'closeExpired' | 'closeOverdue' | 'rearm' | 'remindPending' | 'sweepReminders'
>;

const noneUnmoved: UnmovedOrders = {
  ...{ notDue: [], settling: [], contended: [], settled: [], unknown: [], parked: [] },
};

/** How orders are reminded, and how they end without being paid. */
export function timeouts(ledger: Ledger): Operations {
  const { guards, tables, now, dueNow, isLocked } = ledger;
  const { orders, outbox } = tables;

  /** Sorts ids into those to move and the rest, as the locking read and the look at what it passed over do. */
  function sortOut(
    ids: readonly string[],
    due: 'remindAt' | 'expiresAt',
    isSettled: (row: OrderRow) => boolean,
  ): { readonly rows: OrderRow[]; readonly unmoved: UnmovedOrders } {
    const rows: OrderRow[] = [];
    const lists = { contended: [] as string[], settled: [] as string[], unknown: [] as string[] };
    const notDue: { orderId: string; dueInMs: number }[] = [];
    const settling: { orderId: string; dueInMs: number; lateMs: number }[] = [];
    for (const orderId of [...new Set(ids)].sort()) {
      const row = orders.get(orderId);
      const dueInMs = row ? row[due].getTime() - dueNow() : 0;
      const settleInMs = due === 'expiresAt' ? settlesIn(row) : 0;
      if (!row) lists.unknown.push(orderId);
      else if (isSettled(row)) lists.settled.push(orderId);
      else if (dueInMs > 0) notDue.push({ orderId, dueInMs });
      else if (settleInMs > 0) settling.push({ orderId, dueInMs: settleInMs, lateMs: -dueInMs });
      else if (isLocked(orderId)) lists.contended.push(orderId);
      else rows.push(row);
    }
    return { rows, unmoved: { notDue, settling, ...lists, parked: [] } };
  }

  /** How long the order still waits for its provider. */
  function settlesIn(row: OrderRow | undefined): number {
    return guards.settleUntil && row?.settleUntil ? row.settleUntil.getTime() - dueNow() : 0;
  }

  /** The control without `compareAndSet` writes what it read a moment ago, whatever became of it. */
  function close(rows: readonly OrderRow[], cause: TransitionCause) {
    const { later } = ledger;
    if (guards.compareAndSet || !later || rows.length === 0) {
      return ledger.closeRows(rows, 'TIMEOUT_CLOSED', cause);
    }
    ledger.requireUnlocked(rows.map(({ activityId }) => activityId));
    later(() => void ledger.closeRows(rows, 'TIMEOUT_CLOSED', cause));
    return { closed: [], effects: [] };
  }

  function remindPending(ids: readonly string[]): RemindResult {
    const isSettled = ({ status, remindedAt }: OrderRow): boolean =>
      guards.reminderClaim && (status !== 'PENDING' || remindedAt !== null);
    const { rows, unmoved } = sortOut(ids, 'remindAt', isSettled);
    for (const row of rows) {
      row.remindedAt = new Date(now());
      if (row.expiresAt.getTime() <= now()) continue;
      if (guards.reminderNotice) ledger.addNotice(row.id, 'REMINDER');
    }
    const reminded = rows.map(({ id, activityId, userId, expiresAt, remindAt }) => ({
      ...{ orderId: id, activityId, userId, expiresAt: expiresAt.getTime() },
      latenessMs: now() - remindAt.getTime(),
    }));
    return { ...unmoved, reminded, outbox: rows.length > 0 ? ledger.addOutbox(2, rows) : null };
  }

  function sweepReminders({ graceMs }: { readonly graceMs: number }): ReminderSweep {
    const due = [...outbox.values()].filter(
      (row) => row.phase === 1 && !row.isSwept && row.dueAtMs <= now() - graceMs,
    );
    const isUnreminded = (id: string): boolean => {
      const row = orders.get(id);
      return row?.status === 'PENDING' && row.remindedAt === null;
    };
    const idsOf = (row: OutboxRow): string[] => row.orders.map(({ orderId }) => orderId);
    const { reminded, contended, notDue } = remindPending(due.flatMap(idsOf).filter(isUnreminded));
    for (const row of due) {
      const ids = idsOf(row);
      if (ids.some((id) => contended.includes(id))) continue;
      const waits = notDue.filter(({ orderId }) => ids.includes(orderId)).map(({ dueInMs }) => dueInMs);
      if (waits.length === 0) row.isSwept = true;
      else row.dueAtMs = now() + Math.min(...waits);
    }
    return { reminded: reminded.length, parked: [], next: null };
  }

  return {
    remindPending,
    sweepReminders,
    closeExpired: (ids, { cause }) => {
      const { rows, unmoved } = sortOut(ids, 'expiresAt', ({ status }) => status !== 'PENDING');
      return { ...unmoved, ...close(rows, cause) };
    },
    closeOverdue: ({ graceMs, limit }) => {
      const due = [...orders.values()]
        .filter(({ status, expiresAt }) => status === 'PENDING' && expiresAt.getTime() <= dueNow() - graceMs)
        .filter((row) => settlesIn(row) <= 0 && !isLocked(row.id))
        .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime() || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
      return { ...noneUnmoved, ...close(due, 'sweep'), found: due.length };
    },
    cancelOrder: (id, userId) => {
      const order = orders.get(id);
      if (order?.userId !== userId) return { kind: 'not_found' };
      if (order.status !== 'PENDING') return { kind: 'not_pending', order: toOrder(order) };
      const open = [...tables.attempts.values()].filter((one) => one.orderId === id && isOpen(one));
      for (const attempt of open) attempt.settleAt = new Date(Math.min(attempt.settleAt.getTime(), now()));
      if (open.length > 0) return { kind: 'paying' };
      const [effect] = ledger.closeRows([order], 'CANCELLED', 'buyer').effects;
      return effect ? { kind: 'cancelled', order: toOrder(order), effect } : { kind: 'not_found' };
    },
    rearm: (phase, ids) => {
      const open = [...new Set(ids)]
        .sort()
        .flatMap((id) => orders.get(id) ?? [])
        .filter(({ status, remindedAt }) => status === 'PENDING' && (phase === 2 || remindedAt === null));
      return open.length > 0 ? ledger.addOutbox(phase, open) : null;
    },
  };
}
