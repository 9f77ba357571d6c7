import { describe, expect, test } from 'vitest';
import { type NoticeContent, renderNotice } from '../src/index.ts';

const reminder: NoticeContent = {
  stage: 'REMINDER',
  locale: 'en',
  activityName: 'Spring gala',
  quantity: 2,
  amountMinor: 259_800,
  currency: 'CNY',
  remainingMs: 298_900,
  payLink: 'https://shop.example.com/pay/o1',
  orderId: 'o1',
};

describe('a reminder', () => {
  test('says in English what is left, what it costs, and where to pay', () => {
    expect(renderNotice(reminder)).toEqual({
      subject: 'Your order for Spring gala closes in 4 min 58 sec',
      text: [
        'Your order for Spring gala (2 places, CN¥2,598.00) is not paid yet. It closes in 4 min 58 sec; its places then go back on sale.',
        'Pay here: https://shop.example.com/pay/o1',
        'Order: o1',
      ].join('\n'),
    });
  });

  test('says the same in Chinese', () => {
    expect(renderNotice({ ...reminder, locale: 'zh-CN' })).toEqual({
      subject: '您的“Spring gala”订单将在4分钟58秒后关闭',
      text: [
        '您的“Spring gala”订单（2 张，¥2,598.00）尚未支付，将在4分钟58秒后关闭，届时名额将重新开放销售。',
        '立即支付：https://shop.example.com/pay/o1',
        '订单号：o1',
      ].join('\n'),
    });
  });

  test.each([
    [300_000, 'in 5 min'],
    [299_999, 'in 4 min 59 sec'],
    [59_999, 'in 59 sec'],
    [1_000, 'in 1 sec'],
    [999, 'now'],
    [0, 'now'],
    [-5_000, 'now'],
    [Number.NaN, 'now'],
    [3_600_000, 'in 1 hr'],
    [3_661_000, 'in 1 hr 1 min'],
    [3_601_000, 'in 1 hr'],
    [90_061_000, 'in 1 day 1 hr'],
  ])('with %d ms left it says "%s", never more than there is', (remainingMs, words) => {
    expect(renderNotice({ ...reminder, remainingMs }).subject).toBe(
      `Your order for Spring gala closes ${words}`,
    );
  });
});

describe('a notice of closing', () => {
  test('says why, that the place is back on sale, and what to do about money that was taken all the same', () => {
    const { subject, text } = renderNotice({ ...reminder, stage: 'CLOSED', quantity: 1 });
    expect(subject).toBe('Your order for Spring gala was closed');
    expect(text).toContain('because it was not paid in time');
    expect(text).toContain('If you were charged all the same, write to us with the number of the order.');
    expect(text).toContain('The place is back on sale');
    expect(text).not.toContain('/pay/');
  });

  test('never says that nothing was charged: a payment may have come late, or with another amount', () => {
    for (const [locale, claim] of [
      ['en', /nothing was charged|not been charged|no charge/i],
      ['zh', /没有.*收取|未.*扣款/],
    ] as const) {
      expect(renderNotice({ ...reminder, stage: 'CLOSED', locale }).text).not.toMatch(claim);
    }
  });

  test('says the same in Chinese', () => {
    const { subject, text } = renderNotice({ ...reminder, stage: 'CLOSED', locale: 'zh' });
    expect(subject).toBe('您的“Spring gala”订单已关闭');
    expect(text).toContain('因未在规定时间内支付');
    expect(text).toContain('如果您仍被扣款，请凭订单号与我们联系。');
    expect(text).toContain('名额已重新开放销售');
  });
});

describe('language', () => {
  test.each(['zh', 'zh-CN', 'ZH-hant-TW', 'zh_CN'])('%s is Chinese', (locale) => {
    expect(renderNotice({ ...reminder, locale }).subject).toContain('订单');
  });

  test.each(['en', 'en-GB', 'de', '', 'zhx', 'not a locale!'])('%j is English, and never fails', (locale) => {
    expect(renderNotice({ ...reminder, locale }).subject).toContain('Your order');
  });
});

describe('amounts', () => {
  const amountOf = (amountMinor: number, currency: string, locale = 'en') =>
    /places, (.+?)\)/.exec(renderNotice({ ...reminder, amountMinor, currency, locale }).text)?.[1];

  test.each([
    [1_999, 'USD', '$19.99'],
    [1_999, 'JPY', '¥1,999'],
    [1_999, 'KWD', 'KWD 1.999'],
    [0, 'EUR', '€0.00'],
    [99_999_999_999_999, 'USD', '$999,999,999,999.99'],
    // Intl alone would write these two without a fraction, a thousand and a hundred times too much.
    [1_999, 'IQD', 'IQD 1.999'],
    [1_999, 'LBP', 'LBP 19.99'],
    [1_999, 'XXQ', 'XXQ 19.99'],
  ])('%d minor units of %s are %s', (amountMinor, currency, text) => {
    expect(amountOf(amountMinor, currency)?.replace('\u00a0', ' ')).toBe(text);
  });
});
