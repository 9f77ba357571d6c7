import type { SaleState } from '../../src/live-states.ts';
import { type Speech, useSpeech } from '../language.tsx';
import { problemText } from '../problem-text.ts';
import { useBuy } from './use-buy.ts';

/** One sale: what is left of it, and the button. */
export function SaleCard({ sale }: { readonly sale: SaleState }) {
  const speech = useSpeech();
  const { t, money, count } = speech;
  const { busy, problem, buy } = useBuy(sale.id);
  const isOpen = sale.phase === 'open';
  return (
    <article class="card sale" aria-labelledby={`sale-${sale.id}`} data-activity={sale.id}>
      <div class="sale-head">
        <h2 id={`sale-${sale.id}`}>{sale.name}</h2>
        <p class="price">{money(sale.priceMinor, sale.currency)}</p>
      </div>
      <div class="sale-stock">
        <p class="left" data-left={sale.available}>
          <strong>{count(sale.available)}</strong>{' '}
          <span class="soft">{t.sales.of(count(sale.capacity))}</span>
        </p>
        <meter
          min={0}
          max={Math.max(1, sale.capacity)}
          value={sale.available}
          aria-label={t.sales.leftLabel}
        />
      </div>
      <div class="sale-foot">
        <button type="button" class="main" disabled={!isOpen || busy} onClick={() => void buy()}>
          {buttonText(sale, speech, busy)}
        </button>
        <p class="soft hint">{hintText(sale, speech)}</p>
      </div>
      <p class="fault" role="alert">
        {problem === undefined ? '' : problemText(t, problem)}
      </p>
    </article>
  );
}

function buttonText({ phase, opensAt }: SaleState, { t, dateTime }: Speech, busy: boolean): string {
  switch (phase) {
    case 'open':
      return busy ? t.sales.buying : t.sales.buy;
    case 'sold_out':
      return t.sales.soldOut;
    case 'ended':
      return t.sales.ended;
    case 'paused':
      return t.sales.paused;
    case 'soon':
      return t.sales.soon(dateTime(opensAt ?? ''));
  }
}

function hintText({ phase, payWithinMs, returns }: SaleState, { t, time }: Speech): string {
  if (phase === 'sold_out') {
    if (returns === null) return t.sales.returnsNone;
    if (returns === 'unknown') return t.sales.returnsUnknown;
    return t.sales.returns(returns.places, time(returns.at));
  }
  if (phase === 'ended' || phase === 'paused') return '';
  const seconds = Math.round(payWithinMs / 1_000);
  return t.sales.toPay(seconds < 120 ? t.sales.seconds(seconds) : t.sales.minutes(Math.round(seconds / 60)));
}
