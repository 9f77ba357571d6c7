import type { OrderStatus } from '@lapse/contracts';

/** The invariants of infra/decisions and the design, in words short enough for one line of a report. */
export const invariants = {
  I1: 'what is sold and held never exceeds capacity, and MySQL counts what is left exactly',
  I2: 'Redis: free + held + sold = capacity, none below zero',
  I3: 'at rest Redis and MySQL agree, order by order and buyer by buyer, and Redis may sell',
  I4: 'an order leaves PENDING once, by a step that is allowed and on record',
  I5: 'a closed order gives its stock back exactly once, in each store',
  I6: 'no paid order gave stock back; no captured payment is without its paid order, a refund or quarantine',
  I7: 'nothing closes before its deadline, or while it is being paid, by the clock of the database',
  I8: 'every unpaid order closes in time',
  I9: 'at most one reminder an order, and none for an order that was not pending',
  I10: 'one order per buyer and idempotency key',
  I11: 'nothing that must follow is left behind: messages, stock effects, notices',
} as const;
export type InvariantId = keyof typeof invariants;

/** Most order ids named for one invariant; the numbers in `detail` are complete. */
export const orderIdsMax = 20;

export interface Check {
  readonly id: InvariantId;
  readonly ok: boolean;
  /** What holds, or what does not and for how many orders. One line. */
  readonly detail: string;
  /** Some of the orders concerned, at most 20. */
  readonly orderIds: readonly string[];
}

/** A row that was set aside for a person and still waits for one. */
export interface Parked {
  readonly kind: string;
  /** The order's id, or the broker's message id. */
  readonly ref: string;
  readonly reason: string;
}

/** Milliseconds from deadline to close, over all orders closed by timeout. Zeros when there are none. */
export interface Lateness {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Closed before their deadline. */
  readonly early: number;
}

export interface OracleCounts {
  readonly activities: number;
  /** Of those in the archive the paid ones. */
  readonly orders: Readonly<Record<OrderStatus, number>>;
  readonly units: {
    readonly capacity: number;
    readonly available: number;
    readonly pending: number;
    readonly paid: number;
    /** Given back by closed orders, those in the archive among them. */
    readonly credited: number;
  };
  readonly payments: Readonly<Record<string, number>>;
  /** By stage and state: `REMINDER SENT`. */
  readonly notifications: Readonly<Record<string, number>>;
  /** Set aside for an operator; not a violation, but somebody must look. */
  readonly parked: {
    readonly orders: number;
    readonly messages: number;
    readonly deadLetters: number;
    readonly notifications: number;
  };
}

export interface Verdict {
  readonly ok: boolean;
  /** One for each invariant, I1 to I11 in order. */
  readonly checks: readonly Check[];
  /** Those of `checks` that do not hold. */
  readonly failed: readonly Check[];
  readonly lateness: Lateness;
  readonly counts: OracleCounts;
  /** The newest, at most 20; the numbers in `counts` are complete. */
  readonly parked: readonly Parked[];
}

/** One way in which an invariant does not hold. */
export interface Finding {
  readonly id: InvariantId;
  readonly says: string;
  readonly total: number;
  readonly orderIds: readonly string[];
}

/** Gather findings under their invariants. `unchecked` says why one was not looked at. */
export function judge(findings: readonly Finding[], unchecked: ReadonlyMap<InvariantId, string>): Check[] {
  return (Object.keys(invariants) as InvariantId[]).map((id) => {
    const own = findings.filter((finding) => finding.id === id);
    const ok = own.length === 0;
    const reason = unchecked.get(id);
    const holds = reason === undefined ? invariants[id] : `not checked: ${reason}`;
    const detail = ok ? holds : own.map(({ says, total }) => `${total} × ${says}`).join('; ');
    const orderIds = [...new Set(own.flatMap((finding) => finding.orderIds))].slice(0, orderIdsMax);
    return { id, ok, detail, orderIds };
  });
}

/** The verdict as lines for a terminal or a test's failure. */
export function describeVerdict({ checks, lateness, counts, parked }: Verdict): string {
  const lines = checks.map(({ id, ok, detail, orderIds }) => {
    const named = orderIds.length > 0 ? `\n       ${orderIds.join('\n       ')}` : '';
    return `${ok ? 'ok  ' : 'FAIL'} ${id.padEnd(3)} ${detail}${named}`;
  });
  const orders = Object.entries(counts.orders).filter(([, count]) => count > 0);
  lines.push(`orders ${orders.map(([status, count]) => `${status} ${count}`).join(', ') || 'none'}`);
  if (lateness.count > 0) {
    const { count, p50, p99, max, early } = lateness;
    lines.push(
      `closed by timeout ${count}: late by p50 ${p50} ms, p99 ${p99} ms, max ${max} ms; early ${early}`,
    );
  }
  lines.push(...parked.map(({ kind, ref, reason }) => `parked ${kind} ${ref}: ${reason}`));
  return lines.join('\n');
}
