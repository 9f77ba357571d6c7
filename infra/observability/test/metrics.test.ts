import { readFileSync } from 'node:fs';
import { orderStatuses, paymentOutcomes, problems, workerKinds } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPromtool, promtoolLimitMs, runPromtool } from '../src/find-promtool.ts';
import { metricNames } from '../src/metric-names.ts';
import { openWorld, type ProcessName, processNames, type World } from '../src/open-world.ts';
import { type Exposition, readExposition } from '../src/read-exposition.ts';
import { readAlerts, readDashboard, readRecordings } from './read-files.ts';

/** Series of one process after a sale. Buckets are 14 series; a store has at most 14 classes of operations. */
const seriesMax: Readonly<Record<ProcessName, number>> = {
  producer: 700,
  reminder: 500,
  closer: 500,
  sweeper: 700,
  settler: 400,
  console: 350,
  'payment-simulator': 250,
};

const anyOf = (values: readonly string[]): RegExp => new RegExp(`^(${values.join('|')})$`);
const number = /^(\+Inf|[0-9.]+)$/;

/** Every label there is, and all that its values may ever be. A label that is not here fails the test. */
const labelValues: Readonly<Record<string, RegExp>> = {
  le: number,
  quantile: number,
  phase: /^[12]$/,
  status: /^[1-5]xx$/,
  method: anyOf(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
  // Patterns alone: an id in one of them has digits, and a pattern has none but in v1.
  route: /^(unknown|\*|\/(?:v1|[a-z.*:-]|:[a-zA-Z]+|\/)*)$/,
  code: anyOf(Object.keys(problems)),
  state: anyOf(orderStatuses.map((status) => status.toLowerCase())),
  within: anyOf(['60', '300', '900']),
  level: anyOf(['info', 'warn', 'error']),
  process: anyOf(processNames),
  version: /^(\d+\.\d+\.\d+|v\d+\.\d+\.\d+)$/,
  operation: /^[a-z]+$/,
  batch: /^[a-z_]+$/,
  queue: /^[a-z_]+$/,
  transition: anyOf(['created', 'reminded', 'paid', 'closed', 'cancelled', 'reacquired']),
  kind: anyOf([
    ...workerKinds,
    ...[
      'order',
      'message',
      'dead_letter',
      'notification',
      'shop_event',
      'major',
      'minor',
      'incremental',
      'weakcb',
    ],
    ...[
      'hold_missing',
      'sale_missing',
      'sale_unconfirmed',
      'hold_left',
      'hold_without_order',
      'user_missing',
    ],
    ...[
      'sold_without_payment',
      'hold_differs',
      'user_extra',
      'user_unseen',
      'counter_off',
      'capacity_differs',
    ],
    ...['unreadable', 'release', 'confirm', 'reacquire', 'capacity', 'closed_notice'],
  ]),
  outcome: anyOf([
    ...[
      'closed',
      'reminded',
      'not_due',
      'settling',
      'contended',
      'settled',
      'unknown',
      'parked',
      'applied',
      'left',
    ],
    ...['sent', 'skipped', 'retry', 'failed', 'refused', 'unavailable', 'accepted', 'captured', 'cancelled'],
    ...['processing', 'given_up', 'delivered', ...paymentOutcomes],
  ]),
  stage: anyOf(['reminder', 'closed', 'REMINDER', 'CLOSED', 'remind']),
  type: /^[A-Za-z._]+$/,
  space: /^[a-z_]+$/,
  reason: anyOf(['queue', 'export']),
  move: anyOf(['capture', 'refund']),
  fault: /^[a-zA-Z]+$/,
  // Of Node itself.
  major: /^\d+$/,
  minor: /^\d+$/,
  patch: /^\d+$/,
};

let world: World;
const scraped = new Map<ProcessName, Exposition>();
const texts = new Map<ProcessName, string>();

beforeAll(async () => {
  world = await openWorld();
  await world.sell(20);
  // Figures of MySQL as a whole are read every half second here: those of after the sale.
  await waitUntil(async () => /^lapse_orders_pending 0$/m.test(await world.scrape('sweeper')), {
    what: 'the sweeper to see that no order is pending',
  });
  for (const name of processNames) {
    const text = await world.scrape(name);
    texts.set(name, text);
    scraped.set(name, readExposition(text));
  }
});
afterAll(() => world?.close());

test('a scrape of each process is bounded, and names its process', () => {
  const counts = Object.fromEntries([...scraped].map(([name, { series }]) => [name, series.length]));
  process.stdout.write(`series of one process: ${JSON.stringify(counts)}\n`);
  for (const name of processNames) {
    expect(counts[name], name).toBeLessThanOrEqual(seriesMax[name]);
    expect(counts[name], name).toBeGreaterThan(50);
    const info = scraped.get(name)?.series.find((series) => series.name === 'lapse_build_info');
    expect(info?.labels.process).toBe(name);
  }
});

test('every value of every label is one of a closed list: no id, no address, no text of an error', () => {
  const faults = new Set<string>();
  for (const [name, { series }] of scraped) {
    for (const { name: metric, labels } of series) {
      for (const [label, value] of Object.entries(labels)) {
        if (!labelValues[label]?.test(value)) faults.add(`${name}: ${metric} ${label}="${value}"`);
      }
    }
  }
  expect([...faults]).toEqual([]);
});

test('the closed lists refuse an id', () => {
  const id = '019ad0c4-6d7a-7cc0-8000-3b1b5c1d2e3f';
  for (const [label, values] of Object.entries(labelValues)) expect(values.test(id), label).toBe(false);
  expect(labelValues.route?.test(`/v1/orders/${id}`)).toBe(false);
  expect(labelValues.route?.test('/v1/orders/:id')).toBe(true);
});

test('the lateness of the sale is in the histogram of the objective, and each step is counted once', () => {
  const valueAt = (process: ProcessName, name: string, labels: Record<string, string> = {}): number =>
    scraped
      .get(process)
      ?.series.filter((series) => series.name === name)
      .filter((series) => Object.entries(labels).every(([label, value]) => series.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0) ?? 0;
  const closes = valueAt('closer', 'lapse_close_lateness_seconds_count');
  expect(closes + valueAt('sweeper', 'lapse_close_lateness_seconds_count')).toBe(20);
  expect(valueAt('closer', 'lapse_close_lateness_seconds_bucket', { le: '1' })).toBeGreaterThan(0);
  // Nobody pays here, so that no grace ends: what it closes on its provider's word the page leaves out too.
  expect(valueAt('settler', 'lapse_close_lateness_seconds_count')).toBe(0);
  expect(valueAt('producer', 'lapse_order_transitions_total', { transition: 'created' })).toBe(20);
  expect(valueAt('sweeper', 'lapse_orders_pending')).toBe(0);
  expect(valueAt('sweeper', 'lapse_workers_alive', { kind: 'closer' })).toBe(1);
  expect(valueAt('closer', 'lapse_redis_operation_seconds_count', { operation: 'release' })).toBeGreaterThan(
    0,
  );
});

test('dashboard, rules and alerts ask for no metric that the processes do not emit', () => {
  const emitted = new Set([...scraped.values()].flatMap(({ names }) => [...names]));
  const recorded = readRecordings();
  const known = new Set([...emitted, ...recorded.map(({ record }) => record), 'ALERTS']);
  const asked = [...recorded, ...readAlerts(), ...readDashboard()].flatMap(({ expr, where }) =>
    metricNames(expr).map((name) => ({ name, where })),
  );
  expect(asked.length).toBeGreaterThan(60);
  expect(asked.filter(({ name }) => !known.has(name))).toEqual([]);
  // Negative control: a name that nobody emits is found.
  expect(known.has('lapse_close_lateness_ms_bucket')).toBe(false);
});

const promtool = findPromtool();

test.skipIf(!promtool)(
  'names, units and help of all metrics pass the linter of Prometheus (promtool)',
  async () => {
    for (const [name, text] of texts) {
      // Node's own metrics are named by prom-client.
      const own = text
        .split('\n')
        .filter((line) => /^(# (HELP|TYPE) )?lapse_/.test(line))
        .join('\n');
      const { ok, output } = await runPromtool(promtool ?? '', ['check', 'metrics'], { input: `${own}\n` });
      expect({ name, ok, output }).toEqual({ name, ok: true, output: '' });
    }
  },
  promtoolLimitMs + 20_000,
);

test('the README says where dashboard, rules and runbook are', () => {
  for (const readme of ['README.md', 'README.zh-CN.md']) {
    const text = readFileSync(new URL(`../../../${readme}`, import.meta.url), 'utf8');
    expect(text).toContain('infra/RUNBOOK.md');
    expect(text).toContain('infra/observability/grafana/lapse.json');
  }
});
