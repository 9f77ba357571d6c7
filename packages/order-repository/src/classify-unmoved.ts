import type { OrderStatus } from '@lapse/contracts';
import type { SettlingOrder, UnmovedOrders } from './batch-result.ts';
import { idFromBytes, idList } from './binary-id.ts';
import type { Session } from './session.ts';

interface UnmovedRow {
  readonly id: Buffer;
  readonly status: OrderStatus;
  readonly reminded_at: Date | null;
  readonly due_in_us: number;
  readonly settle_in_us: number | null;
}

/** What is due in a phase, and when an order has nothing left to do in it. */
export interface DueRule {
  readonly dueColumn: 'remind_at' | 'expires_at';
  readonly isSettled: (row: { readonly status: OrderStatus; readonly reminded_at: Date | null }) => boolean;
}

export const noneUnmoved: UnmovedOrders = {
  notDue: [],
  settling: [],
  contended: [],
  settled: [],
  unknown: [],
  parked: [],
};

/** The ids that a locking read did not find. */
export function without(ids: readonly string[], rows: readonly { readonly id: Buffer }[]): readonly string[] {
  if (rows.length === ids.length) return [];
  const found = new Set(rows.map(({ id }) => idFromBytes(id)));
  return ids.filter((id) => !found.has(id));
}

/**
 * Why a locking read passed these ids over. A plain read, so it sees the last commit: an order that is
 * pending and due here was locked by somebody a moment ago, or has become due since: `contended`, ask again.
 */
export async function classifyUnmoved(
  session: Session,
  ids: readonly string[],
  { dueColumn, isSettled }: DueRule,
): Promise<UnmovedOrders> {
  if (ids.length === 0) return noneUnmoved;
  const rows = await session.rows<UnmovedRow>(
    `SELECT id, status, reminded_at, TIMESTAMPDIFF(MICROSECOND, NOW(3), ${dueColumn}) AS due_in_us,
       TIMESTAMPDIFF(MICROSECOND, NOW(3), settle_until) AS settle_in_us
     FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)`,
    [idList(ids)],
  );
  const byId = new Map(rows.map((row) => [idFromBytes(row.id), row]));
  const notDue: { orderId: string; dueInMs: number }[] = [];
  const settling: SettlingOrder[] = [];
  const contended: string[] = [];
  const settled: string[] = [];
  const unknown: string[] = [];
  for (const id of ids) {
    const row = byId.get(id);
    if (row === undefined) unknown.push(id);
    else if (isSettled(row)) settled.push(id);
    else if (row.due_in_us > 0) notDue.push({ orderId: id, dueInMs: Math.ceil(row.due_in_us / 1_000) });
    else if (dueColumn === 'expires_at' && (row.settle_in_us ?? 0) > 0) settling.push(toSettling(id, row));
    else contended.push(id);
  }
  return { notDue, settling, contended, settled, unknown, parked: [] };
}

function toSettling(orderId: string, { settle_in_us, due_in_us }: UnmovedRow): SettlingOrder {
  return {
    orderId,
    dueInMs: Math.ceil((settle_in_us ?? 0) / 1_000),
    lateMs: Math.floor(-due_in_us / 1_000),
  };
}

export function mergeUnmoved(parts: readonly UnmovedOrders[], parked: readonly string[]): UnmovedOrders {
  return {
    notDue: parts.flatMap((part) => part.notDue),
    settling: parts.flatMap((part) => part.settling),
    contended: parts.flatMap((part) => part.contended),
    settled: parts.flatMap((part) => part.settled),
    unknown: parts.flatMap((part) => part.unknown),
    parked: [...parts.flatMap((part) => part.parked), ...parked],
  };
}
