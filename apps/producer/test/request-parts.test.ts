import { describe, expect, it } from 'vitest';
import { buyerLocale } from '../src/buyer-locale.ts';
import { requestHash } from '../src/request-hash.ts';

describe('the language of a buyer', () => {
  it.each([
    [undefined, undefined, 'en'],
    [undefined, '', 'en'],
    [undefined, 'zh', 'zh'],
    [undefined, 'zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
    [undefined, 'en-GB, zh;q=0.5', 'en'],
    [undefined, 'en;q=0.5, zh;q=0.9', 'zh'],
    [undefined, 'fr, de;q=0.9', 'en'],
    [undefined, 'zh;q=0', 'en'],
    [undefined, 'zhuang, *;q=0.1', 'en'],
    [undefined, ';;;q=,,zh;q=x', 'zh'],
    ['zh-Hant-TW', 'en', 'zh'],
    ['en', 'zh', 'en'],
    ['fr', 'zh', 'zh'],
    ['ZH_cn', undefined, 'zh'],
  ])('claim %j and Accept-Language %j: %s', (claim, header, locale) => {
    expect(buyerLocale(claim, header)).toBe(locale);
  });

  it('of a header without end is found without effort', () => {
    expect(buyerLocale(undefined, 'fr,'.repeat(5_000))).toBe('en');
  });
});

describe('the hash of a request', () => {
  it('is 32 bytes, the same for the same request, another for another', () => {
    const hash = requestHash(1, { quantity: 2 });
    expect(hash).toHaveLength(32);
    expect(requestHash(1, { quantity: 2 })).toEqual(hash);
    expect(requestHash(1, { quantity: 3 })).not.toEqual(hash);
    expect(requestHash(2, { quantity: 2 })).not.toEqual(hash);
    // 1 and 12 against 11 and 2: the parts cannot run into each other.
    expect(requestHash(11, { quantity: 2 })).not.toEqual(requestHash(1, { quantity: 12 }));
  });

  it('stays what earlier releases have stored: a repeat from before an update still gets its first answer', () => {
    const stored = '7c5d7380960bf70956e2cae4a5357d30bd0d40855fcbe88155098ae4e8170183';
    expect(requestHash(1, { quantity: 2 }).toString('hex')).toBe(stored);
  });
});
