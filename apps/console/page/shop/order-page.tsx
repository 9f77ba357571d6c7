import { useEffect } from 'preact/hooks';
import type { OrderState } from '../../src/live-states.ts';
import { type Speech, useSpeech } from '../language.tsx';
import { LinkState } from '../link-state.tsx';
import { Link } from '../router.tsx';
import { useLive } from '../use-live.ts';
import { Countdown } from './countdown.tsx';
import { PayAndCancel } from './pay-and-cancel.tsx';
import { Steps } from './steps.tsx';

/** A buyer's order, live: what it waits for, or what became of it and why. */
export function OrderPage({ id }: { readonly id: string }) {
  const { t } = useSpeech();
  const { state: order, link } = useLive<OrderState>(`/events/orders/${id}`);
  useEffect(() => {
    document.title = `${order ? t.order[order.status] : t.order.title} · Lapse`;
  }, [t, order?.status]);
  return (
    <>
      <div class="page-head">
        <Link to="/" class="back">
          ← {t.order.back}
        </Link>
        <LinkState link={link} />
      </div>
      {order === null ? (
        <div class="waiting" aria-busy={link !== 'refused'}>
          {link === 'refused' ? t.trouble.orderNotFound : ''}
        </div>
      ) : (
        <OrderCard order={order} />
      )}
    </>
  );
}

function OrderCard({ order }: { readonly order: OrderState }) {
  const speech = useSpeech();
  const { t, money, time } = speech;
  const isPending = order.status === 'PENDING';
  return (
    <article class="card order" data-status={order.status}>
      <div class="sale-head">
        <h1>{order.activityName}</h1>
        <p class="price">{money(order.amountMinor, order.currency)}</p>
      </div>
      <p class={`status ${order.status}`} role="status">
        {t.order[order.status]}
      </p>
      {isPending ? (
        <>
          <Countdown fromMs={Date.parse(order.createdAt)} untilMs={Date.parse(order.expiresAt)} />
          <p>{t.order.heldUntil(time(order.expiresAt))}</p>
          <p class="last-call">{order.remindedAt === null ? '' : t.order.lastCall}</p>
          <PayAndCancel order={order} />
        </>
      ) : (
        <Ending order={order} speech={speech} />
      )}
      <Steps order={order} />
      <dl class="facts">
        <dt>{t.order.number}</dt>
        <dd>{order.id}</dd>
      </dl>
    </article>
  );
}

function Ending({ order, speech: { t, time } }: { readonly order: OrderState; readonly speech: Speech }) {
  const { status, expiresAt, paidAt, closedAt, refund } = order;
  return (
    <div class="ending">
      {status === 'PAID' ? <p>{t.order.paidText(time(paidAt ?? ''))}</p> : null}
      {status === 'TIMEOUT_CLOSED' ? (
        <p>{t.order.closedText(time(expiresAt), time(closedAt ?? ''))}</p>
      ) : null}
      {status === 'CANCELLED' ? <p>{t.order.cancelledText(time(closedAt ?? ''))}</p> : null}
      {refund === null ? null : <p class="refund">{t.order[refund]}</p>}
      {status === 'PAID' ? null : (
        <Link to="/" class="button">
          {t.order.again}
        </Link>
      )}
    </div>
  );
}
