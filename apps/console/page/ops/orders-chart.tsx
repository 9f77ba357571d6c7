import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { HistoryPoint, OrderCounts } from '../../src/live-states.ts';
import { callApi } from '../call-api.ts';
import { useSpeech } from '../language.tsx';
import { serverNow } from '../server-clock.ts';

const states = ['pending', 'paid', 'closed', 'cancelled'] as const;
const colours = { pending: '--warn', paid: '--accent', closed: '--bad', cancelled: '--soft' } as const;
/** As long as the server keeps, with a point for each look. */
const spanSeconds = 1_800;
const heightPx = 220;

/** Orders by state over the last half hour: what the server kept, and then each live state. */
export function OrdersChart({ orders }: { readonly orders: OrderCounts }) {
  const { t, time } = useSpeech();
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const points = useRef<HistoryPoint[]>([]);
  const draw = (): void => chart.current?.setData(dataOf(points.current));

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    chart.current = new uPlot(
      optionsFor(element.clientWidth, (at) => time(new Date(at * 1_000).toISOString())),
      dataOf(points.current),
      element,
    );
    const resize = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: heightPx }),
    );
    resize.observe(element);
    void callApi<{ points: HistoryPoint[] }>('GET', '/api/ops/history').then((answer) => {
      if (answer.ok) points.current = [...answer.value.points, ...points.current];
      draw();
    });
    return () => {
      resize.disconnect();
      chart.current?.destroy();
    };
  }, []);
  useEffect(() => {
    const at = Math.round(serverNow() / 1_000);
    points.current = [...points.current.filter((point) => point.at > at - spanSeconds), { at, ...orders }];
    draw();
  }, [orders]);

  return (
    <section class="card two-thirds" aria-labelledby="over-time">
      <h2 id="over-time">{t.ops.overTime}</h2>
      <div class="chart" ref={box} aria-hidden="true" />
      <ul class="legend">
        {states.map((state) => (
          <li key={state}>
            <span class={`swatch ${state}`} aria-hidden="true" />
            {t.ops[state]}
          </li>
        ))}
      </ul>
    </section>
  );
}

function dataOf(points: readonly HistoryPoint[]): uPlot.AlignedData {
  return [points.map(({ at }) => at), ...states.map((state) => points.map((point) => point[state]))];
}

function optionsFor(width: number, timeText: (seconds: number) => string): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  // A custom property's text is not a colour yet: light-dark() is decided where it is used.
  const probe = document.body.appendChild(document.createElement('span'));
  const colour = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: colour('--soft'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width,
    height: heightPx,
    // Room for half of the last time on the axis.
    padding: [12, 32, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(5, max * 1.1)] } },
    axes: [
      { ...axis, values: (_chart, at) => at.map(timeText), space: 90, size: 28 },
      { ...axis, size: 48 },
    ],
    series: [
      {},
      ...states.map((state) => ({ stroke: colour(colours[state]), width: 2, points: { show: false } })),
    ],
  };
  probe.remove();
  return options;
}
