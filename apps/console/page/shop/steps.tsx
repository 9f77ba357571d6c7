import type { OrderState } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import type { Texts } from '../texts/en.ts';

/** What happened to an order, in the order of time. */
export function Steps({ order }: { readonly order: OrderState }) {
  const { t, time } = useSpeech();
  return (
    <section aria-labelledby="steps">
      <h2 id="steps" class="minor">
        {t.order.steps}
      </h2>
      <ol class="steps">
        {stepsOf(order, t).map(({ at, what }) => (
          <li key={what}>
            <time dateTime={at}>{time(at)}</time>
            <span>{what}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function stepsOf(order: OrderState, t: Texts): { at: string; what: string }[] {
  const { createdAt, remindedAt, paidAt, closedAt, status } = order;
  const ended = status === 'CANCELLED' ? t.order.stepCancelled : t.order.stepClosed;
  const steps = [
    { at: createdAt, what: t.order.stepPlaced },
    { at: remindedAt, what: t.order.stepReminded },
    { at: closedAt, what: ended },
    { at: paidAt, what: t.order.stepPaid },
  ].flatMap(({ at, what }) => (at === null ? [] : [{ at, what }]));
  return steps.sort((left, right) => (left.at < right.at ? -1 : 1));
}
