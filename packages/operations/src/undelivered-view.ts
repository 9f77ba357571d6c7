import type { UndeliveredView } from '@lapse/contracts';
import type { DeliveryKind, Undelivered } from '@lapse/order-repository';

/** A delivery that was given up, as operators see it. */
export function toUndeliveredView(kind: DeliveryKind, { createdAt, ...rest }: Undelivered): UndeliveredView {
  return { ...rest, kind, createdAt: createdAt.toISOString() };
}
