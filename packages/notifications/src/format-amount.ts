import { numberFormat } from './number-format.ts';

/**
 * ISO 4217 currencies whose minor unit is not a hundredth. Intl must not be asked: its digits are those
 * people write (0 for IQD, whose minor unit is a thousandth), which would show a thousand times the price.
 */
const minorDigits: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    [...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ')].map((code) => [
      code,
      0,
    ]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
  CLF: 4,
  UYW: 4,
};

const minorDigitsUsual = 2;

/** An amount in minor units as people write it: 129900 CNY is "¥1,299.00". Exact up to 10^14 minor units,
 * the dearest order there can be. */
export function formatAmount(locale: string, amountMinor: number, currency: string): string {
  const digits = minorDigits[currency] ?? minorDigitsUsual;
  const format = numberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(amountMinor / 10 ** digits);
}
