import { useEffect } from 'preact/hooks';
import type { OperationsState } from '../../src/live-states.ts';
import { useSpeech } from '../language.tsx';
import { LinkState } from '../link-state.tsx';
import { useLive } from '../use-live.ts';
import { ActivityTable } from './activity-table.tsx';
import { DueBars } from './due-bars.tsx';
import { Findings } from './findings.tsx';
import { LatenessCard } from './lateness-card.tsx';
import { OrdersChart } from './orders-chart.tsx';
import { Search } from './search.tsx';
import { OrderTiles, QueueTiles } from './tiles.tsx';
import { WorkerTable } from './worker-table.tsx';

/** The whole system at a glance, live. Each number leads to the rows behind it. */
export function Overview() {
  const { t } = useSpeech();
  const { state, link } = useLive<OperationsState>('/events/ops');
  useEffect(() => {
    document.title = `${t.ops.title} · Lapse`;
  }, [t]);
  return (
    <>
      <div class="page-head">
        <h1>{t.ops.title}</h1>
        <LinkState link={link} />
      </div>
      {state === null ? (
        <div class="waiting" aria-busy="true" />
      ) : (
        <div class="ops">
          <OrderTiles orders={state.orders} />
          <ActivityTable activities={state.activities} />
          <WorkerTable workers={state.workers} />
          <OrdersChart orders={state.orders} />
          <LatenessCard lateness={state.lateness} />
          <QueueTiles state={state} />
          <DueBars due={state.due} />
          <Findings findings={state.findings} />
          <Search />
        </div>
      )}
    </>
  );
}
