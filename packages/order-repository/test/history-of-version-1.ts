import type { TimelineRows } from '../src/timeline-rows.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const at = (time: string): Date => new Date(`2030-01-01T${time}Z`);
const orderId = bytes('019ad0c48b1e7c3a9f003b1c52d6a001');
const reminder = bytes('019ad0c48b1e7c3a9f003b1c52d6a002');
const close = bytes('019ad0c48b1e7c3a9f003b1c52d6a003');
const delivered = {
  ...{ order_id: orderId, attempts: 1, next_attempt_at: at('00:15:00.100') },
  ...{ sent_at: at('00:15:00.200'), last_error: null },
};
const step = { order_id: orderId, effect_batch_id: null, actor: null, debit: 0 };
const message = { order_count: 3, attempts: 1, last_error: null };

/** One row of each kind, as version 1 of the archive's history has them: an order that closed, and was paid too late. */
export const historyOfVersion1: TimelineRows = {
  order: {
    ...{ id: orderId, activity_id: 7, user_id: Buffer.from('ann'), quantity: 2, amount_minor: 5_000 },
    ...{ currency: 'CNY', locale: 'en', status: 'TIMEOUT_CLOSED', version: 2 },
    ...{ created_at: at('00:00:00.001'), remind_at: at('00:10:00.000'), expires_at: at('00:15:00.000') },
    ...{ reminded_at: at('00:10:00.040'), paid_at: null, closed_at: at('00:15:00.007') },
    ...{ idempotency_key: null, request_hash: bytes('ab'.repeat(32)) },
    ...{ first_remind_at: null, first_expires_at: at('00:14:00.000') },
    ...{ reminder_outbox_id: reminder, close_outbox_id: close },
  },
  transitions: [
    {
      ...{ ...step, version: 1, from_status: null, to_status: 'PENDING', cause: 'create' },
      ...{ at: at('00:00:00.001'), credit: 0 },
    },
    {
      ...{ ...step, version: 2, from_status: 'PENDING', to_status: 'TIMEOUT_CLOSED', cause: 'operator' },
      ...{ at: at('00:15:00.007'), credit: 2, actor: Buffer.from('boss\u00e9'), effect_batch_id: close },
    },
  ],
  messages: [
    {
      ...{ ...message, id: reminder, phase: 1, due_at: at('00:10:00.000'), created_at: at('00:00:00.001') },
      ...{ sent_at: at('00:00:00.050'), deliver_at: at('00:10:00.000'), message_id: '0100AA' },
    },
    {
      ...{ ...message, id: close, phase: 2, due_at: at('00:15:00.000'), created_at: at('00:10:00.040') },
      ...{ sent_at: null, deliver_at: null, message_id: null, last_error: 'no broker "a"' },
    },
  ],
  notifications: [{ ...delivered, id: 11, stage: 'CLOSED', state: 'SENT', created_at: at('00:15:00.100') }],
  shopEvents: [{ ...delivered, id: 12, type: 'closed', state: 'SENT', created_at: at('00:15:00.100') }],
  attempts: [
    {
      ...{ id: bytes('019ad0c48b1e7c3a9f003b1c52d6a004'), order_id: orderId, provider: 'stripe' },
      ...{ provider_ref: Buffer.from('pi_1'), amount_minor: 5_000, currency: 'CNY', state: 'CANCELLED' },
      ...{ pay_url: null, client_secret: 'pi_1_secret', created_at: at('00:01:00.000') },
      ...{ settle_at: at('00:15:00.000'), ended_at: at('00:15:00.006'), tries: 1, last_error: null },
    },
  ],
  payments: [
    {
      ...{ id: 13, order_id: orderId, event_id: Buffer.from('evt_1'), type: 'payment.captured' },
      ...{ payment_id: Buffer.from('pi_2'), amount_minor: 5_000, currency: 'CNY', state: 'REFUNDED' },
      ...{ occurred_at: at('00:15:01.000'), received_at: at('00:15:01.100'), reason: 'late' },
      ...{ refund_tries: 1, refund_ref: Buffer.from('re_1'), refunded_at: at('00:15:02.000') },
      ...{ refund_failed_at: null, last_error: null },
    },
  ],
};
