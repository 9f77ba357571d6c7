import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import type { BuyerPlan } from './sale-plan.ts';
import type { Tally } from './tally.ts';

/** Last-moment payers send their payment this long before the deadline, at most. */
const lastMomentMs = 50;

/**
 * Live one buyer's sale: arrive, click (some click several times at once), then pay, cancel, pay at the
 * last moment, or do nothing and lapse. Everything that the API answers goes into the tally.
 */
export async function liveAsBuyer(
  api: ApiClient,
  plan: BuyerPlan,
  activityId: number,
  opensAt: number,
  tally: Tally,
): Promise<void> {
  const token = await api.mintToken(plan.userId, plan.locale);
  await sleep(Math.max(0, opensAt + plan.arriveAtMs - Date.now()));

  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: plan.clicks }, () => api.createOrder(token, activityId, key)),
  );
  const orders = answers.flatMap((answer) => (answer.ok ? [answer.body] : []));
  const order = orders[0];
  if (order === undefined) {
    for (const answer of answers.slice(0, 1)) tally.refused(answer.ok ? 'none' : answer.problem.code);
    return;
  }
  const deadline = Date.parse(order.expiresAt);
  tally.created(plan.clicks, new Set(orders.map(({ id }) => id)).size, deadline);

  const windowMs = deadline - Date.parse(order.createdAt);
  if (plan.behaviour === 'lapse') return;
  if (plan.behaviour === 'pay-at-deadline') {
    await sleep(Math.max(0, deadline - Math.random() * lastMomentMs - Date.now()));
    tally.lastMoment(await api.capture(order));
    return;
  }
  await sleep(windowMs * plan.thinkShare);
  if (plan.behaviour === 'pay') tally.paid(await api.capture(order));
  else tally.cancelled((await api.cancelOrder(token, order.id)).ok);
}
