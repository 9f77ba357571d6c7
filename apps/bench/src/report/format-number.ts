/** For people: three digits, or all that are left of the point. "27,100", "12.4", "0.87", "0.0034". */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return value.toLocaleString('en-US', digits);
}

const bytesPerMegabyte = 1_000_000;

export function megabytes(bytes: number): number {
  return bytes / bytesPerMegabyte;
}
