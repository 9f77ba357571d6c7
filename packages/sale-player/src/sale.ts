import type { ActivityView } from '@lapse/contracts';
import type { ApiClient } from './api-client.ts';
import { liveAsBuyer, type SaleClients } from './buyer.ts';
import type { SalePlan } from './sale-plan.ts';
import type { Tally } from './tally.ts';

/** Price of a place in the demo, in minor units. */
const priceMinor = 8_800;

/** Put the plan's activities on sale. Their windows are the same, so that both close in one burst. */
export function openActivities(
  api: ApiClient,
  plan: SalePlan,
  { payWithinMs, remindAfterMs }: { readonly payWithinMs: number; readonly remindAfterMs: number },
): Promise<ActivityView[]> {
  return Promise.all(
    plan.activities.map(({ name, capacity }) =>
      api.createActivity({ name, capacity, priceMinor, currency: 'CNY', payWithinMs, remindAfterMs }),
    ),
  );
}

/** Let every buyer of the plan live their sale; resolves when the last has done what they came for. */
export async function playSale(
  clients: SaleClients,
  plan: SalePlan,
  activities: readonly ActivityView[],
  tally: Tally,
): Promise<void> {
  const opensAt = Date.now();
  await Promise.all(
    plan.buyers.map((buyer) => {
      const activity = activities[buyer.activity];
      if (activity === undefined) throw new Error(`LAPSE_SALE_PLAN: no activity ${buyer.activity}`);
      return liveAsBuyer(clients, buyer, activity.id, opensAt, tally);
    }),
  );
}
