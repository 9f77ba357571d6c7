import type { PaymentAttempt } from '@lapse/order-repository';
import { explainMoney } from './explain-money.ts';
import { explainNotices } from './explain-notices.ts';
import { explainPlaces } from './explain-places.ts';
import { explainShopEvents } from './explain-shop-events.ts';
import { explainState } from './explain-state.ts';
import type {
  Answer,
  ExplainedAttempt,
  ExplainedOrder,
  ExplanationTopic,
  ExplanationWords,
  OrderExplanation,
} from './explanation.ts';

/**
 * Say in plain sentences why an order is in its state, where its places are, what its buyer and the shop were told,
 * and whether any money is owed. Pure: the same facts give the same sentences. What a person has to do comes with the
 * command that does it.
 */
export function explainOrder(order: ExplainedOrder, words: ExplanationWords): OrderExplanation {
  const answers: readonly (readonly [ExplanationTopic, Answer])[] = [
    ['state', explainState(order, words)],
    ['state', explainArchive(order, words)],
    ['places', explainPlaces(order)],
    ['buyer', explainNotices(order, words)],
    ['money', explainMoney(order, words)],
    ['shop', explainShopEvents(order, words)],
  ];
  const { id, status } = order.timeline.order;
  return {
    orderId: id,
    status,
    attempts: order.timeline.attempts.map(toExplainedAttempt),
    answers: answers.flatMap(([about, { says }]) => says.map((sentence) => ({ about, says: sentence }))),
    todo: answers.flatMap(([, { todo = [] }]) => todo),
  };
}

function toExplainedAttempt({
  id,
  provider,
  providerRef,
  state,
  createdAt,
  endedAt,
}: PaymentAttempt): ExplainedAttempt {
  const times = { beganAt: createdAt.toISOString(), endedAt: endedAt?.toISOString() ?? null };
  return { attemptId: id, provider, providerRef, state, ...times };
}

function explainArchive({ timeline: { archivedAt } }: ExplainedOrder, { time }: ExplanationWords): Answer {
  if (archivedAt === null) return { says: [] };
  return {
    says: [`Its rows went to the archive at ${time(archivedAt)}; this is what the archive has.`],
  };
}
