import { z } from 'zod';
import { durationMs } from './duration.ts';
import { activityId, operatorReason } from './ids.ts';
import { instant } from './instant.ts';
import { pauseOutcome } from './worker.ts';

const dayMs = 86_400_000;

/** Reminded after 10 minutes, closed after 15, unless the activity says otherwise. */
export const payWithinMsDefault = 900_000;
export const remindAfterMsDefault = 600_000;
/** Longest pay window. Beyond a broker's 24 hours the deadline is chained, so the limit is ours: 30 days. */
export const payWithinMsMax = 30 * dayMs;

/**
 * Most places. As many as a rebuild has been measured with: sales stand still while it lasts, and it and the audit hold
 * every active order in memory, some 1.5 GB at a million.
 */
const capacityMax = 1_000_000;

/** How long past its deadline an order waits for a provider that does not say what became of its payment. */
export const paymentGraceMsDefault = 30_000;
export const paymentGraceMsMax = 600_000;

/**
 * What becomes of money that arrives after the order closed at its deadline. `refund`: it goes back. `reacquire`: the
 * order is PAID after all where a place is free, its buyer has no other order here and sales have not ended; else the
 * money goes back. An order that was cancelled is never taken up again.
 */
export const latePaymentPolicies = ['refund', 'reacquire'] as const;

const currencyFault = 'must be a currency of ISO 4217 by its code, such as "CNY" or "EUR"';
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const saleWindow = {
  saleStartsAt: z.iso.datetime().nullable(),
  saleEndsAt: z.iso.datetime().nullable(),
};

/** Body of `POST /v1/activities`. */
export const createActivityBody = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    capacity: z.int().min(1).max(capacityMax).describe('Places on sale.'),
    priceMinor: z
      .int()
      .min(0)
      .max(1_000_000_000_000)
      .describe('Price of one place in minor units: cents, fen.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, { error: currencyFault, abort: true })
      .refine((code) => currencies.has(code), currencyFault)
      .describe('Code of ISO 4217.')
      .meta({ examples: ['CNY', 'EUR'] }),
    saleStartsAt: instant.nullable().prefault(null).describe('Sales open then; null: at once.'),
    saleEndsAt: instant.nullable().prefault(null).describe('Sales end then; null: never.'),
    payWithinMs: durationMs(1_000, payWithinMsMax, 'An order closes when it is unpaid for so long.').prefault(
      payWithinMsDefault,
    ),
    remindAfterMs: durationMs(
      500,
      payWithinMsMax,
      'Its buyer is reminded when it is unpaid for so long; less than payWithinMs.',
    ).prefault(remindAfterMsDefault),
    quantityMax: z.int().min(1).max(100).default(1).describe('Most places in one order.'),
    latePaymentPolicy: z
      .enum(latePaymentPolicies)
      .default('refund')
      .describe(
        'What becomes of money that arrives after the order closed. `refund`: it goes back. `reacquire`: the order is PAID after all where a place is free, its buyer has no other order here and sales have not ended; else the money goes back.',
      ),
    paymentGraceMs: durationMs(
      0,
      paymentGraceMsMax,
      'An order that is being paid waits so long past its deadline for a provider that does not say how that ended.',
    ).prefault(paymentGraceMsDefault),
  })
  .refine((body) => body.remindAfterMs < body.payWithinMs, {
    path: ['remindAfterMs'],
    message:
      'must be less than payWithinMs (without a value it is 10 minutes): a reminder after the deadline reminds nobody',
  })
  .refine(
    (body) =>
      !body.saleStartsAt || !body.saleEndsAt || Date.parse(body.saleStartsAt) < Date.parse(body.saleEndsAt),
    {
      path: ['saleEndsAt'],
      message: 'must be later than saleStartsAt',
    },
  );
export type CreateActivityBody = z.infer<typeof createActivityBody>;

/** Body of `PATCH /v1/activities/:id`. */
export const changeCapacityBody = z.strictObject({
  capacity: z
    .int()
    .min(0)
    .max(capacityMax)
    .describe(
      'Places in all, held and sold ones included. Never below those; 0 stops an activity that sold none.',
    ),
  reason: operatorReason,
});
export type ChangeCapacityBody = z.infer<typeof changeCapacityBody>;

/** An activity as the API shows it. `available` is MySQL's count of free places. */
export const activityView = z.object({
  id: activityId,
  name: z.string(),
  capacity: z.int(),
  available: z.int(),
  priceMinor: z.int(),
  currency: z.string(),
  ...saleWindow,
  salePausedAt: z.iso
    .datetime()
    .nullable()
    .describe('Since then an operator has new orders refused with SALE_PAUSED; null: they are taken.'),
  archivedAt: z.iso
    .datetime()
    .nullable()
    .describe(
      'Since then its sale is over for good, and orders and changes are refused with ACTIVITY_ARCHIVED.',
    ),
  payWithinMs: z.int(),
  remindAfterMs: z.int(),
  quantityMax: z.int(),
  latePaymentPolicy: z.enum(latePaymentPolicies),
  paymentGraceMs: z.int(),
  createdAt: z.iso.datetime(),
});
export type ActivityView = z.infer<typeof activityView>;

/** Answer of `POST /v1/activities/:id/pause` and `…/resume`; of a dry run the activity as it is. */
export const activityPauseView = z.object({ ...pauseOutcome, activity: activityView });

/** Most activities of one answer. */
export const activitiesPerPageMax = 100;

/** Answer of `GET /v1/activities`: by number, a page at a time. */
export const activityList = z.object({
  activities: z.array(activityView),
  next: activityId.nullable().describe('Give it as `after` to get the next page; null: this was the last.'),
});
