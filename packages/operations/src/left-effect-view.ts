import type { LeftEffectView } from '@lapse/contracts';
import type { LeftEffect } from '@lapse/order-repository';

/** Notices or events that could not be written, as operators see them. */
export function toLeftEffectView({ createdAt, ...effect }: LeftEffect): LeftEffectView {
  return { ...effect, createdAt: createdAt.toISOString() };
}
