import { useState } from 'preact/hooks';
import type { OrderState } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { ActionForm } from './action-form.tsx';

const minutesDefault = 5;
const minuteMs = 60_000;

/** What an operator may do with a pending order. Each names its effect, and asks before it is done. */
export function OrderActions({ order }: { readonly order: OrderState }) {
  const { t, count, dateTime } = useSpeech();

  const [minutes, setMinutes] = useState(minutesDefault);
  if (order.status !== 'PENDING') return null;
  const until = new Date(Date.parse(order.expiresAt) + minutes * minuteMs).toISOString();
  return (
    <section class="card third" aria-labelledby="actions">
      <h2 id="actions">{t.ops.actions}</h2>
      <ActionForm
        name={t.ops.extend}
        effect={t.ops.sureExtend(minutes, dateTime(order.expiresAt), dateTime(until))}
        path={`/api/orders/${order.id}/extend`}
        body={{ byMs: minutes * minuteMs }}
      >
        <label for="minutes">{t.ops.extendBy}</label>
        <input
          id="minutes"
          type="number"
          min={1}
          max={43_200}
          value={minutes}
          onInput={(event) => setMinutes(Math.max(1, Math.floor(event.currentTarget.valueAsNumber) || 1))}
        />
      </ActionForm>
      <ActionForm
        name={t.ops.cancelOrder}
        effect={t.ops.sureCancel(count(order.quantity))}
        path={`/api/orders/${order.id}/cancel`}
        body={{}}
      />
    </section>
  );
}
