import { describe, expect, it } from 'vitest';
import { activityId, idempotencyKey, orderId, userId } from '../src/index.ts';

describe('an order id', () => {
  it('is a UUID version 7 in lower case', () => {
    expect(orderId.safeParse('019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001').success).toBe(true);
  });

  it.each([
    ['version 4', '6f1c6f0e-3f0a-4d3b-9c59-1d2f6f0a7b11'],
    ['upper case, which would be a second spelling of one order', '019AD0C4-8B1E-7C3A-9F00-3B1C52D6A001'],
    ['empty', ''],
    ['SQL', "' OR 1=1 --"],
    ['a path', '../../etc/passwd'],
    ['a trailing newline', '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001\n'],
    ['a number', 42],
  ])('is never %s', (_name, value) => {
    expect(orderId.safeParse(value).success).toBe(false);
  });
});

describe('what a person reads of a bad id', () => {
  const messagesOf = (schema: { safeParse: typeof orderId.safeParse }, value: unknown) =>
    schema.safeParse(value).error?.issues.map(({ message }) => message);

  it.each(['6f1c6f0e-3f0a-4d3b-9c59-1d2f6f0a7b11', '019AD0C4-8B1E-7C3A-9F00-3B1C52D6A001', 'nonsense', 42])(
    'says once what an order id looks like, for %j',
    (value) => {
      expect(messagesOf(orderId, value)).toEqual([
        expect.stringMatching(/^must be the id of an order: .* lower case/),
      ]);
    },
  );

  it('says that the Idempotency-Key is missing, and what to send', () => {
    expect(messagesOf(idempotencyKey, undefined)).toEqual([
      expect.stringMatching(/^is missing: send an Idempotency-Key header/),
    ]);
  });
});

describe('an activity id', () => {
  it.each([1, 42, Number.MAX_SAFE_INTEGER])('may be %d', (value) => {
    expect(activityId.safeParse(value).success).toBe(true);
  });

  it.each([0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN, Number.POSITIVE_INFINITY, '42', null])(
    'is never %s, so nothing but digits reaches a Redis key name',
    (value) => {
      expect(activityId.safeParse(value).success).toBe(false);
    },
  );
});

describe('a user id', () => {
  it.each([
    'a',
    "O'Brien",
    'say "hi"; DROP TABLE orders; --',
    '用户-一',
    'é',
    'e\u0301',
    '👩‍👩‍👧',
    'a:b{c}d',
    '💺'.repeat(64),
  ])('may be %j: both stores compare its bytes', (value) => {
    expect(userId.parse(value)).toBe(value);
  });

  it.each([
    ['empty', ''],
    ['longer than 128', 'x'.repeat(129)],
    ['with a newline', 'a\nb'],
    ['with NUL', 'a\u0000b'],
    ['with DEL', 'a\u007fb'],
    ['with a C1 control', 'a\u0085b'],
    ['with half a surrogate pair', 'a\ud800'],
    ['not text', 7],
  ])('is never %s', (_name, value) => {
    expect(userId.safeParse(value).success).toBe(false);
  });

  it('takes at most 512 bytes of UTF-8, the width of its column', () => {
    expect(Buffer.byteLength(userId.parse('\uffff'.repeat(128)))).toBeLessThanOrEqual(512);
  });
});

describe('an idempotency key', () => {
  it.each(['1', 'x'.repeat(128), '~!@#$%^&*()'])('may be %s', (value) => {
    expect(idempotencyKey.safeParse(value).success).toBe(true);
  });

  it.each(['', 'x'.repeat(129), 'two words', 'ключ', 'a\n', '\u0000', undefined])('is never %j', (value) => {
    expect(idempotencyKey.safeParse(value).success).toBe(false);
  });
});
