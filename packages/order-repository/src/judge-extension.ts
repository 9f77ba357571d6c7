import { payWithinMsMax } from '@lapse/contracts';
import type { ExtendRefusal, Extension } from './extend-result.ts';
import type { Order } from './order.ts';

export type JudgedExtension =
  | { readonly kind: 'may'; readonly expiresAt: Date }
  | Exclude<ExtendRefusal, { kind: 'not_found' }>;

/**
 * Whether an order's deadline may move so far, and to when. Pure, so that a dry run and the change itself, which asks
 * again under the order's lock, cannot differ in their rules.
 */
export function judgeExtension(order: Order, extension: Extension, nowMs: number): JudgedExtension {
  if (order.status !== 'PENDING') return { kind: 'not_pending', order };
  const before = order.expiresAt.getTime();
  const after = 'until' in extension ? extension.until.getTime() : before + extension.byMs;
  if (after <= before || after <= nowMs) return { kind: 'not_later', order };
  const latest = order.createdAt.getTime() + payWithinMsMax;
  if (after > latest) return { kind: 'too_late', latest: new Date(latest) };
  return { kind: 'may', expiresAt: new Date(after) };
}
