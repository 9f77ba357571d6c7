import { z } from 'zod';

/** Every `code` that the API answers with, its HTTP status, and what a caller does about it. */
export const problems = {
  INVALID_REQUEST: {
    status: 400,
    title: 'The request is not valid',
    advice: 'Correct the fields named in errors.',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'No valid token',
    advice: 'Send a valid token: Authorization: Bearer …',
  },
  SIGNATURE_INVALID: {
    status: 401,
    title: 'The webhook signature is not valid',
    advice: 'Sign the raw body with the shared secret, and check the clock.',
  },
  FORBIDDEN: { status: 403, title: 'Not allowed', advice: 'Use a token that carries the scope this needs.' },
  NOT_ON_SALE: {
    status: 403,
    title: 'The activity is not on sale now',
    advice: 'Try inside the sale window.',
  },
  NOT_FOUND: { status: 404, title: 'No such thing', advice: 'Check the address.' },
  ACTIVITY_NOT_FOUND: { status: 404, title: 'No such activity', advice: 'Check the activity number.' },
  ORDER_NOT_FOUND: {
    status: 404,
    title: 'No such order',
    advice: 'Check the order id, and whose order it is.',
  },
  REFUND_NOT_FOUND: { status: 404, title: 'No such refund', advice: 'Check its number in /v1/ops/refunds.' },
  WORKER_NOT_FOUND: {
    status: 404,
    title: 'No such process',
    advice:
      'Read /v1/workers: a process has a new id with each start, and is forgotten an hour after its death.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This address does not take that method',
    advice: 'See the API page.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request took too long to arrive',
    advice: 'Nothing was done: send the same request again, with the same key.',
  },
  SOLD_OUT: {
    status: 409,
    title: 'Fewer places are free than asked for',
    advice:
      'A smaller order may still get its places. Unpaid orders close at their deadline: places may come back.',
  },
  SALE_PAUSED: {
    status: 409,
    title: 'The sale is paused',
    advice: 'An operator has paused it: try again later. Orders that were placed can be paid and cancelled.',
  },
  ALREADY_HOLDING: {
    status: 409,
    title: 'You already hold an order here',
    advice: 'Pay or cancel the order named in orderId.',
  },
  ORDER_NOT_PENDING: {
    status: 409,
    title: 'The order is no longer pending',
    advice: 'Read the order: its status says what happened.',
  },
  ORDER_NOT_DUE: {
    status: 409,
    title: 'The order is not past its deadline',
    advice: 'It closes at expiresAt; to end it sooner, cancel it.',
  },
  CAPACITY_BELOW_SOLD: {
    status: 409,
    title: 'The capacity cannot be less than what is held and sold',
    advice: 'Choose at least the number in taken, or wait until unpaid orders close.',
  },
  DEADLINE_NOT_LATER: {
    status: 409,
    title: 'The new deadline is not later',
    advice: 'Choose a time after now and after expiresAt: a deadline moves to a later time only.',
  },
  DEADLINE_TOO_LATE: {
    status: 409,
    title: 'The new deadline is too late',
    advice: 'Choose at most latestExpiresAt: no order is pending for more than 30 days.',
  },
  WORKER_STOPPED: {
    status: 409,
    title: 'The process has stopped',
    advice: 'Read /v1/workers: the process that was started after it has an id of its own.',
  },
  PAYMENT_IN_PROGRESS: {
    status: 409,
    title: 'The order is being paid',
    advice: 'Its payment is being cancelled at the provider: send the same request again in a second.',
  },
  REFUND_NOT_OWED: {
    status: 409,
    title: 'Nothing is owed of this payment',
    advice: 'Read /v1/ops/refunds: the money was kept, is quarantined, or went back before.',
  },
  REFUND_IN_PROGRESS: {
    status: 409,
    title: 'The payment provider is being asked for this refund',
    advice: 'Wait for the seconds in Retry-After, then read /v1/ops/refunds: it may have been paid.',
  },
  ACTIVITY_ARCHIVED: {
    status: 410,
    title: 'The activity is archived',
    advice:
      'Its sale was over for longer than such are kept: nothing is sold or changed in it any more. Open a new activity. Orders are still found by their ids.',
  },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large', advice: 'Send at most 16 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is not JSON',
    advice: 'Send Content-Type: application/json.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'This Idempotency-Key came with another request before',
    advice: 'Use a new key for a new request.',
  },
  PAYMENT_REFUSED: {
    status: 422,
    title: 'The payment provider does not take this payment',
    advice: 'Sending it again does not help: choose another way to pay.',
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    title: 'Too many requests',
    advice: 'Wait for the seconds in Retry-After.',
  },
  INTERNAL: {
    status: 500,
    title: 'A fault on our side',
    advice: 'Send the same request again; quote instance if it stays.',
  },
  OVERLOADED: {
    status: 503,
    title: 'More requests are waiting than we take',
    advice: 'Wait for the seconds in Retry-After, then send the same request with the same key.',
  },
  PAUSED: {
    status: 503,
    title: 'This process of the API is paused',
    advice:
      'It takes no new orders for now. Wait for the seconds in Retry-After, then send the same request with the same key: another process may answer.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'A store does not answer',
    advice: 'Wait for the seconds in Retry-After, then send the same request with the same key.',
  },
  PAYMENT_UNAVAILABLE: {
    status: 503,
    title: 'The payment provider does not answer',
    advice: 'Wait for the seconds in Retry-After, then send the same request again.',
  },
  STOCK_NOT_READY: {
    status: 503,
    title: 'The stock of this activity is being loaded',
    advice: 'Wait for the seconds in Retry-After, then send the same request with the same key.',
  },
} as const satisfies Record<string, { status: number; title: string; advice: string }>;
export type ProblemCode = keyof typeof problems;

/** RFC 9457 problem details, served as application/problem+json. */
export const problemView = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(problems) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
  instance: z.string(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  orderId: z.string().optional(),
  saleStartsAt: z.string().nullable().optional(),
  saleEndsAt: z.string().nullable().optional(),
  salePausedAt: z.string().optional(),
  archivedAt: z.string().optional(),
  capacity: z.int().optional(),
  taken: z.int().optional().describe('Places held and sold.'),
  expiresAt: z.string().optional(),
  latestExpiresAt: z.string().optional(),
});
export type ProblemView = z.infer<typeof problemView>;
