import type { OrderTimeline } from '@lapse/contracts';
import { useEffect, useState } from 'preact/hooks';
import type { OrderState } from '../../src/live-states.ts';
import { callApi } from '../call-api.ts';
import { useSpeech } from '../language.tsx';
import { LinkState } from '../link-state.tsx';
import { Link } from '../router.tsx';
import { useLive } from '../use-live.ts';
import { OrderActions } from './order-actions.tsx';
import { Timeline } from './timeline.tsx';

/** An order for operators: everything that happened to it, and what may be done. */
export function OperatorOrderPage({ id }: { readonly id: string }) {
  const { t, money, exactTime } = useSpeech();
  const { state: order, link } = useLive<OrderState>(`/events/orders/${id}`);
  const [timeline, setTimeline] = useState<OrderTimeline | null>(null);
  // Read anew when the order itself has moved.
  const moved = JSON.stringify(order);
  useEffect(() => {
    if (moved === 'null') return;
    void callApi<OrderTimeline>('GET', `/api/orders/${id}/timeline`).then((answer) => {
      if (answer.ok) setTimeline(answer.value);
    });
  }, [id, moved]);
  return (
    <>
      <div class="page-head">
        <Link to="/ops" class="back">
          ← {t.ops.back}
        </Link>
        <LinkState link={link} />
      </div>
      {order === null ? (
        <div class="waiting">{link === 'refused' ? t.trouble.orderNotFound : ''}</div>
      ) : (
        <div class="ops">
          <section class="card two-thirds">
            <div class="sale-head">
              <h1>{order.activityName}</h1>
              <p class="price">{money(order.amountMinor, order.currency)}</p>
            </div>
            <p class={`status ${order.status}`} role="status">
              {t.order[order.status]}
            </p>
            <p class="soft">
              {t.ops.deadline} {exactTime(order.expiresAt)}
              {order.refund === null ? '' : ` · ${order.refund}`}
            </p>
            <dl class="facts">
              <dt>{t.order.number}</dt>
              <dd>{order.id}</dd>
            </dl>
            <h2>{t.ops.timeline}</h2>
            <Timeline timeline={timeline} />
          </section>
          <OrderActions order={order} timeline={timeline} />
        </div>
      )}
    </>
  );
}
