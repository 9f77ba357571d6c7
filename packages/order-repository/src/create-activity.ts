import type { CreateActivityBody } from '@lapse/contracts';
import type { Activity } from './activity.ts';
import { type ActivityRow, activityColumns, toActivity } from './activity-row.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { changeByOperator } from './operator-change.ts';
import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/**
 * Create an activity with all its places free, at generation 1. Not idempotent: a caller that got no answer
 * looks at the list before it asks again.
 */
export function createActivity(database: Database, body: CreateActivityBody): Promise<Activity> {
  return inTransaction(
    database,
    (session) => insertActivity(session, body),
    // An id is never given twice, so the row is there only if this very transaction was committed.
    ({ id }) => ({ sql: 'SELECT 1 FROM activity WHERE id = ?', values: [id] }),
  );
}

/** The same by an operator's hand: noted, and idempotent where the request has a key. */
export function openActivity(
  database: Database,
  body: CreateActivityBody,
  request: OperatorRequest,
  answer: (activity: Activity) => StoredAnswer,
): Promise<OperatorResult<Activity, never>> {
  return changeByOperator<Activity, never>(database, request, {
    change: async (session) => {
      const activity = await insertActivity(session, body);
      const { id, name, capacity } = activity;
      const action = { action: 'activity.create', targetKind: 'activity', target: String(id) } as const;
      return { kind: 'done', result: activity, actions: [{ ...action, detail: { name, capacity } }] };
    },
    answer,
  });
}

async function insertActivity(session: Session, body: CreateActivityBody): Promise<Activity> {
  const { capacity } = body;
  const { insertId } = await session.run(
    `INSERT INTO activity (name, capacity, available, price_minor, currency, sale_starts_at, sale_ends_at,
       pay_within_ms, remind_after_ms, quantity_max, late_payment_policy, payment_grace_ms, generation, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, NOW(3))`,
    [
      body.name,
      capacity,
      capacity,
      body.priceMinor,
      body.currency,
      toDate(body.saleStartsAt),
      toDate(body.saleEndsAt),
      body.payWithinMs,
      body.remindAfterMs,
      body.quantityMax,
      body.latePaymentPolicy,
      body.paymentGraceMs,
    ],
  );
  const [row] = await session.rows<ActivityRow>(`SELECT ${activityColumns} FROM activity WHERE id = ?`, [
    insertId,
  ]);
  if (row === undefined) throw new InvariantError(`activity ${insertId} is not there after its insert`);
  return toActivity(row);
}

function toDate(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}
