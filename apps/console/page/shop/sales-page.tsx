import { useEffect } from 'preact/hooks';
import type { SalesState } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { LinkState } from '../link-state.tsx';
import { useLive } from '../use-live.ts';
import { MyOrders } from './my-orders.tsx';
import { SaleCard } from './sale-card.tsx';

/** The shop's window: everything on sale, and how much of it is left, live. */
export function SalesPage() {
  const { t } = useSpeech();
  const { state, link } = useLive<SalesState>('/events/sales');
  useEffect(() => {
    document.title = `${t.sales.title} · Lapse`;
  }, [t]);
  return (
    <>
      <div class="page-head">
        <h1>{t.sales.title}</h1>
        <LinkState link={link} />
      </div>
      {state === null ? <div class="waiting" aria-busy="true" /> : null}
      {state?.sales.length === 0 ? <p class="soft">{t.sales.none}</p> : null}
      <div class="sales">
        {state?.sales.map((sale) => (
          <SaleCard key={sale.id} sale={sale} />
        ))}
      </div>
      {state === null ? null : <MyOrders />}
    </>
  );
}
