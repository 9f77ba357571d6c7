import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { WebhookBodyError } from '../src/index.ts';
import { openStandardWebhooks } from '../src/standard-webhooks.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const verify = openStandardWebhooks(secret);
const orderId = '0198c0de-7000-7000-8000-000000000001';
const attemptId = '0198c0de-7000-7000-8000-000000000002';

const captured = {
  type: 'payment.captured',
  timestamp: '2026-01-01T12:00:00.123Z',
  data: { paymentId: 'pay_1', orderId, amountMinor: 8_800, currency: 'CNY' },
};

function signed(body: unknown, { at = new Date(), key = secret, id = 'evt_1' } = {}) {
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    rawBody,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(key).sign(id, at, rawBody),
    } as Record<string, string | string[] | undefined>,
  };
}
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

describe('a good signature', () => {
  it('of a capture names order, attempt, payment and amount; the event id is the webhook-id', () => {
    const withAttempt = { ...captured, data: { ...captured.data, providerRef: 'pa_1', attemptId } };
    expect(verify(signed(withAttempt))).toEqual({
      kind: 'captured',
      eventId: 'evt_1',
      orderId,
      providerRef: 'pa_1',
      paymentId: 'pay_1',
      amountMinor: 8_800,
      currency: 'CNY',
      occurredAt: new Date('2026-01-01T12:00:00.123Z'),
    });
  });

  it('of a body as it was agreed before attempts: the payment stands for the attempt', () => {
    expect(verify(signed(captured))).toMatchObject({ kind: 'captured', providerRef: 'pay_1' });
    expect(verify(signed({ ...captured, type: 'payment.failed' }))).toMatchObject({ kind: 'failed' });
  });

  it('of a refund that failed names it by our id of it, with the reason', () => {
    const refundFailed = {
      type: 'payment.refund_failed',
      timestamp: '2026-01-01T12:00:00Z',
      data: { paymentId: 'pay_1', refundId: attemptId, reason: 'card closed' },
    };
    expect(verify(signed(refundFailed))).toEqual({
      kind: 'refund_failed',
      eventId: 'evt_1',
      paymentId: 'pay_1',
      refundId: attemptId,
      refundRef: null,
      reason: 'card closed',
      occurredAt: new Date('2026-01-01T12:00:00Z'),
    });
    const without = { ...refundFailed, data: { paymentId: 'pay_1' } };
    expect(() => verify(signed(without))).toThrow(WebhookBodyError);
  });

  it('of a type that nobody knows is an event of no meaning, not an error', () => {
    const event = { type: 'payment.disputed', version: 9, data: { anything: true } };
    expect(verify(signed(event))).toEqual({ kind: 'other', eventId: 'evt_1', type: 'payment.disputed' });
  });

  it.each([
    ['a capture without an order', { ...captured, data: { paymentId: 'p' } }, 'body.data.orderId'],
    [
      'a capture of part of a unit',
      { ...captured, data: { ...captured.data, amountMinor: 0.5 } },
      'body.data.amountMinor',
    ],
    ['an unknown field', { ...captured, data: { ...captured.data, status: 'PAID' } }, 'body.data.status'],
    ['no type', { data: {} }, 'body.type'],
    ['no object', [], 'body'],
    ['no JSON', '{', 'body'],
  ])(
    'of %s is a fault that names the field: it may be money, so it is never passed over',
    (_, body, field) => {
      expect(() => verify(signed(body))).toThrow(WebhookBodyError);
      try {
        verify(signed(body));
      } catch (error) {
        expect((error as WebhookBodyError).errors.map((each) => each.field)).toContain(field);
      }
    },
  );
});

describe('no trust', () => {
  it.each([
    ['another secret', signed(captured, { key: otherSecret })],
    ['six minutes old', signed(captured, { at: ago(360) })],
    ['six minutes in the future', signed(captured, { at: ago(-360) })],
    ['a changed body', { ...signed(captured), rawBody: JSON.stringify({ ...captured, extra: 1 }) }],
    ['no headers', { rawBody: JSON.stringify(captured), headers: {} }],
  ])('%s', (_, request) => {
    expect(verify(request)).toBeUndefined();
  });

  it.each([
    ['webhook-id', 'evt_2'],
    ['webhook-id', ''],
    ['webhook-id', 'evt 1'],
    ['webhook-id', ['evt_1']],
    ['webhook-timestamp', '1e9'],
    ['webhook-timestamp', ' 1'],
    ['webhook-signature', undefined],
    ['webhook-signature', ''],
    ['webhook-signature', 'v1,'],
    ['webhook-signature', 'v2,AAAA'],
    ['webhook-signature', 'none,'],
    ['webhook-signature', ['v1,AAAA']],
  ])('%s: %j', (header, value) => {
    const { rawBody, headers } = signed(captured);
    expect(verify({ rawBody, headers: { ...headers, [header]: value } })).toBeUndefined();
  });

  it('negative control: the same requests, but signed and timely, pass', () => {
    expect(verify(signed(captured))).toBeDefined();
    expect(verify(signed(captured, { at: ago(290) }))).toBeDefined();
    expect(openStandardWebhooks(otherSecret)(signed(captured, { key: otherSecret }))).toBeDefined();
  });
});
