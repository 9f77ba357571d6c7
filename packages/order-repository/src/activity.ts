import type { CreateActivityBody } from '@lapse/contracts';

/** An activity as MySQL holds it. */
export interface Activity {
  readonly id: number;
  readonly name: string;
  readonly capacity: number;
  /** Rises with each change of the capacity. */
  readonly capacityVersion: number;
  /** Capacity less the quantity of all PENDING and PAID orders, those in the archive among them, at every commit. */
  readonly available: number;
  readonly priceMinor: number;
  readonly currency: string;
  readonly saleStartsAt: Date | null;
  readonly saleEndsAt: Date | null;
  readonly payWithinMs: number;
  readonly remindAfterMs: number;
  readonly quantityMax: number;
  readonly latePaymentPolicy: CreateActivityBody['latePaymentPolicy'];
  readonly paymentGraceMs: number;
  /** Goes up each time Redis is rebuilt; a hold of another generation no longer counts. */
  readonly generation: number;
  /** Run id of the Redis server that the stock was loaded into; null: never loaded. Another one refuses to sell. */
  readonly stockRunId: string | null;
  /** Since then an operator has new orders refused; null: they are taken. */
  readonly salePausedAt: Date | null;
  /** Since then its sale is over for good, and Redis forgets it; null: it is not archived. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
}

export interface ActivityPage {
  /** The last number of the page before, 0 at first. */
  readonly afterId: number;
  readonly limit: number;
  /** Only those that still sell or may still owe something, or only those that are over; else both. None is archived. */
  readonly only?: 'live' | 'over';
}
