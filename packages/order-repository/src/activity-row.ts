import type { Activity } from './activity.ts';

export const activityColumns =
  'id, name, capacity, capacity_version, available, price_minor, currency, sale_starts_at, sale_ends_at,' +
  ' pay_within_ms, remind_after_ms, quantity_max, late_payment_policy, payment_grace_ms, generation,' +
  ' stock_run_id, sale_paused_at, archived_at, created_at';

export interface ActivityRow {
  readonly id: number;
  readonly name: string;
  readonly capacity: number;
  readonly capacity_version: number;
  readonly available: number;
  readonly price_minor: number;
  readonly currency: string;
  readonly sale_starts_at: Date | null;
  readonly sale_ends_at: Date | null;
  readonly pay_within_ms: number;
  readonly remind_after_ms: number;
  readonly quantity_max: number;
  readonly late_payment_policy: Activity['latePaymentPolicy'];
  readonly payment_grace_ms: number;
  readonly generation: number;
  readonly stock_run_id: string | null;
  readonly sale_paused_at: Date | null;
  readonly archived_at: Date | null;
  readonly created_at: Date;
}

export function toActivity(row: ActivityRow): Activity {
  return {
    id: row.id,
    name: row.name,
    capacity: row.capacity,
    capacityVersion: row.capacity_version,
    available: row.available,
    priceMinor: row.price_minor,
    currency: row.currency,
    saleStartsAt: row.sale_starts_at,
    saleEndsAt: row.sale_ends_at,
    payWithinMs: row.pay_within_ms,
    remindAfterMs: row.remind_after_ms,
    quantityMax: row.quantity_max,
    latePaymentPolicy: row.late_payment_policy,
    paymentGraceMs: row.payment_grace_ms,
    generation: row.generation,
    stockRunId: row.stock_run_id,
    salePausedAt: row.sale_paused_at,
    archivedAt: row.archived_at,
    createdAt: row.created_at,
  };
}
