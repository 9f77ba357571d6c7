import type { ParkedView } from '@lapse/contracts';
import type { Parked } from '@lapse/order-repository';

/** Of a parked message: enough to see what it is. The whole of it is in MySQL. */
const bodyShownMax = 2_000;

/** What was set aside, as operators see it. */
export function toParkedView({ body, createdAt, settledAt, ...parked }: Parked): ParkedView {
  return {
    ...parked,
    body: body?.subarray(0, bodyShownMax).toString('utf8') ?? null,
    createdAt: createdAt.toISOString(),
    settledAt: settledAt?.toISOString() ?? null,
  };
}
