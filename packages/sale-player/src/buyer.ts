import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderView } from '@lapse/contracts';
import type { ApiClient, BuyerToken } from './api-client.ts';
import type { ProviderClient } from './provider-client.ts';
import type { BuyerPlan } from './sale-plan.ts';
import type { Tally } from './tally.ts';

/** Last-moment payers send their payment this long before the deadline, at most. */
const lastMomentMs = 50;
/** A buyer who paid looks at the order this often, and so long, until it is paid or closed. */
const lookEveryMs = 250;
const looksMax = 240;

export interface SaleClients {
  readonly api: ApiClient;
  readonly provider: ProviderClient;
}

/**
 * Live one buyer's sale: arrive, click (some click several times at once), then pay, cancel, pay at the
 * last moment, or do nothing and lapse. Everything that the API answers goes into the tally.
 *
 * All pay at the provider. Those at the last moment pay past Lapse, in a checkout of the shop's own: an attempt begun
 * through Lapse is cancelled at the deadline before the order closes, and takes no money too late.
 */
export async function liveAsBuyer(
  { api, provider }: SaleClients,
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
    const opened = await provider.openPayment(order);
    await sleep(Math.max(0, deadline - Math.random() * lastMomentMs - Date.now()));
    await provider.payOpened(opened);
    tally.lastMoment(await awaitEnd(api, token, order), order.id);
    return;
  }
  await sleep(windowMs * plan.thinkShare);
  if (plan.behaviour === 'pay') tally.paid(await pay({ api, provider }, token, order));
  else tally.cancelled((await api.cancelOrder(token, order.id)).ok);
}

/** @returns what the order came to, or why it could not be paid. */
async function pay({ api, provider }: SaleClients, token: BuyerToken, order: OrderView): Promise<string> {
  const begun = await api.payOrder(token, order.id);
  if (!begun.ok) return begun.problem.code;
  if (begun.body.payUrl === null) return 'no page to pay at: is the provider the simulator?';
  await provider.payOnPage(begun.body.payUrl);
  return awaitEnd(api, token, order);
}

/** @returns the status that the order ended with, or PENDING when it has not, after a minute. */
async function awaitEnd(api: ApiClient, token: BuyerToken, { id }: OrderView): Promise<string> {
  for (let looks = 1; ; looks += 1) {
    const answer = await api.readOrder(token, id);
    if (!answer.ok) return answer.problem.code;
    if (answer.body.status !== 'PENDING' || looks >= looksMax) return answer.body.status;
    await sleep(lookEveryMs);
  }
}
