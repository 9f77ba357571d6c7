import type { OrderTimeline } from '@lapse/contracts';
import { useState } from 'preact/hooks';
import type { OrderState } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { ActionForm } from './action-form.tsx';
import { RowAction, type RowKind } from './row-action.tsx';

const minutesDefault = 5;
const minuteMs = 60_000;

interface OrderActionsProps {
  readonly order: OrderState;
  readonly timeline: OrderTimeline | null;
}

/** What an operator may do about an order, what waits for one first. Each names its effect, can be tried, and asks before it is done. */
export function OrderActions({ order, timeline }: OrderActionsProps) {
  const { t } = useSpeech();
  const waiting = rowsOf(timeline);
  const isPending = order.status === 'PENDING';
  return (
    <section class="card third actions" aria-labelledby="actions">
      <h2 id="actions">{t.ops.actions}</h2>
      {waiting.map(({ name, of, row }) => (
        <div key={`${name} ${row}`}>
          <h3>{t.ops[name](row)}</h3>
          <RowAction of={of} ids={[row]} areEvents={name === 'eventRow'} />
        </div>
      ))}
      {isPending ? <PendingActions order={order} /> : null}
      {isPending || waiting.length > 0 ? null : <p class="soft">{t.ops.nothingToDo}</p>}
    </section>
  );
}

function PendingActions({ order }: { readonly order: OrderState }) {
  const { t, count, dateTime } = useSpeech();
  const [minutes, setMinutes] = useState(minutesDefault);
  const until = new Date(Date.parse(order.expiresAt) + minutes * minuteMs).toISOString();
  return (
    <>
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
    </>
  );
}

/** Names of the rows in a timeline that wait for a person, and of the list that each is in. */
const rowLists = {
  parkedRow: 'parked',
  noticeRow: 'undelivered',
  eventRow: 'undelivered',
  paymentRow: 'refunds',
} as const satisfies Readonly<Record<string, RowKind>>;
type RowName = keyof typeof rowLists;

function rowsOf(timeline: OrderTimeline | null): { name: RowName; of: RowKind; row: number }[] {
  const names = Object.keys(rowLists) as RowName[];
  return (timeline?.events ?? []).flatMap(({ detail }) =>
    names.flatMap((name) => {
      const row = detail[name];
      return typeof row === 'number' ? [{ name, of: rowLists[name], row }] : [];
    }),
  );
}
