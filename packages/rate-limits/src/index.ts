export { addressKey } from './address-key.ts';
export { openRateLimits, type RateLimits, type RateLimitsConfig } from './open-rate-limits.ts';
