import { ProviderRefusedError } from './provider-errors.ts';

/**
 * Stripe counts in minor units as we do: 1000 is ¥1000 in yen, which has no smaller unit ("zero-decimal"), and
 * $10.00 in dollars. Three currencies it counts otherwise than ISO 4217: for ISK and UGX it wants hundredths that
 * do not exist, and for MGA whole ariary. Without this a buyer there would pay a hundredth, or a hundredfold.
 */
const stripeUnitsPerHundred: Readonly<Record<string, number>> = { ISK: 10_000, UGX: 10_000, MGA: 1 };

const usual = 100;

/** @throws {ProviderRefusedError} when Stripe cannot express the amount. */
export function toStripeAmount(amountMinor: number, currency: string): number {
  const units = (amountMinor * (stripeUnitsPerHundred[currency] ?? usual)) / 100;
  if (Number.isSafeInteger(units)) return units;
  throw new ProviderRefusedError(`Stripe cannot take ${amountMinor} minor units of ${currency}`);
}

/** @param currency as Stripe writes it, in lower case. */
export function fromStripeAmount(units: number, currency: string): { amountMinor: number; currency: string } {
  const code = currency.toUpperCase();
  return { amountMinor: Math.floor((units * 100) / (stripeUnitsPerHundred[code] ?? usual)), currency: code };
}
