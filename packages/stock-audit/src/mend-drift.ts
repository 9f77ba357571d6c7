import type { Activity, OrderRepository } from '@lapse/order-repository';
import { crashPoint } from '@lapse/runtime';
import type { Difference } from './compare-stock.ts';
import { type DriftFinding, describeDrift } from './describe-drift.ts';
import { type HealPorts, healStock } from './heal-stock.ts';

export interface MendPorts extends HealPorts {
  readonly orders: HealPorts['orders'] & Pick<OrderRepository, 'markFindingsHealed' | 'recordFindings'>;
}

/** What was found, one line for each kind of difference, and whether the activity had to be loaded again. */
export interface MendedDrift {
  readonly findings: readonly DriftFinding[];
  readonly rebuilt: boolean;
}

/**
 * Heal what two looks found just the same. It is written down before it is touched, with what is to be done, and
 * marked once it is healed. Safe beside others who do the same: every healing is idempotent, and a rebuild is done by
 * one.
 * @param drift not empty.
 */
export async function mendDrift(
  ports: MendPorts,
  activity: Pick<Activity, 'id' | 'generation' | 'stockRunId'>,
  drift: readonly Difference[],
): Promise<MendedDrift> {
  const findings = describeDrift(activity.id, drift);
  const ids = await ports.orders.recordFindings(findings);
  crashPoint('audit.recorded');
  const found = Object.fromEntries(findings.map(({ kind, detail }) => [kind, detail.count]));
  const actions = [...new Set(findings.map(({ action }) => action))];
  ports.log.warn({ activityId: activity.id, found, actions }, 'Redis had drifted from MySQL: being healed');
  const rebuilt = await healStock(ports, activity, drift);
  crashPoint('audit.healed');
  await ports.orders.markFindingsHealed(ids);
  return { findings, rebuilt };
}
