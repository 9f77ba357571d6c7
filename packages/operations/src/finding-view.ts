import type { FindingView } from '@lapse/contracts';
import type { Finding } from '@lapse/order-repository';

/** What the auditor found, as operators see it. */
export function toFindingView({ at, healedAt, detail, ...finding }: Finding): FindingView {
  return {
    ...finding,
    detail: JSON.parse(detail),
    at: at.toISOString(),
    healedAt: healedAt?.toISOString() ?? null,
  };
}
