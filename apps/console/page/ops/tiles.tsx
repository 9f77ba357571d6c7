import type { OperationsState, OrderCounts } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { Link } from '../router.tsx';

interface TileProps {
  readonly label: string;
  readonly value: number;
  readonly to?: string;
  /** Above zero it needs a person. */
  readonly attention?: boolean;
  readonly note?: string;
}

function Tile({ label, value, to, attention = false, note = '' }: TileProps) {
  const { count } = useSpeech();
  const name = `tile${attention && value > 0 ? ' attention' : ''}`;
  const content = (
    <>
      <strong>{count(value)}</strong>
      <span>{label}</span>
      {note === '' ? null : <span>{note}</span>}
    </>
  );
  return to === undefined ? (
    <div class={name}>{content}</div>
  ) : (
    <Link to={to} class={name}>
      {content}
    </Link>
  );
}

export function OrderTiles({ orders }: { readonly orders: OrderCounts }) {
  const { t } = useSpeech();
  const list = (status: string): string => `/ops/list?of=orders&status=${status}`;
  return (
    <section class="card" aria-labelledby="orders">
      <div class="sale-head">
        <h2 id="orders">{t.ops.orders}</h2>
        <p class="soft small">{t.ops.ordersHint}</p>
      </div>
      <div class="tiles">
        <Tile label={t.ops.pending} value={orders.pending} to={list('PENDING')} />
        <Tile label={t.ops.paid} value={orders.paid} to={list('PAID')} />
        <Tile label={t.ops.closed} value={orders.closed} to={list('TIMEOUT_CLOSED')} />
        <Tile label={t.ops.cancelled} value={orders.cancelled} to={list('CANCELLED')} />
      </div>
    </section>
  );
}

export function QueueTiles({ state }: { readonly state: OperationsState }) {
  const { t, count } = useSpeech();
  const { outbox, effects, parked, notices, refunds } = state;
  const oldest = (ms: number): string => (ms === 0 ? '' : t.ops.oldest(count(Math.round(ms / 1_000))));
  const parkedList = (kind: string): string => `/ops/list?of=parked&kind=${kind}`;
  const waitingList = (kind: string): string => `/ops/list?of=waiting&kind=${kind}`;
  const refundList = (name: string): string => `/ops/list?of=refunds&state=${name}`;
  return (
    <section class="card" aria-labelledby="queues">
      <h2 id="queues">{t.ops.queues}</h2>
      <div class="tiles five">
        <Tile
          label={t.ops.outbox}
          value={outbox.rows}
          to={waitingList('outbox')}
          note={oldest(outbox.oldestMs)}
        />
        <Tile
          label={t.ops.effects}
          value={effects.rows}
          to={waitingList('effects')}
          note={oldest(effects.oldestMs)}
        />
        <Tile label={t.ops.parkedOrders} value={parked.orders} to={parkedList('order')} attention />
        <Tile label={t.ops.parkedMessages} value={parked.messages} to={parkedList('message')} attention />
        <Tile label={t.ops.deadLetters} value={parked.deadLetters} to={parkedList('dead_letter')} attention />
        <Tile label={t.ops.noticesFailing} value={notices.failing} to={waitingList('notices')} attention />
        <Tile label={t.ops.noticesGivenUp} value={notices.givenUp} to="/ops/list?of=undelivered" attention />
        <Tile
          label={t.ops.refundsWaiting}
          value={refunds.waiting}
          to={refundList('REFUND_PENDING')}
          note={oldest(refunds.oldestMs)}
        />
        <Tile label={t.ops.refundsFailed} value={refunds.failed} to={refundList('REFUND_FAILED')} attention />
        <Tile
          label={t.ops.quarantined}
          value={refunds.quarantined}
          to={refundList('QUARANTINED')}
          attention
        />
      </div>
    </section>
  );
}
