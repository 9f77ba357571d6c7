import { expect, test } from 'vitest';
import { parseBenchArgs } from '../src/args.ts';
import { closingLine } from '../src/closing-line.ts';
import { createLatencies } from '../src/latencies.ts';
import { createPeerServices } from '../src/peer-services.ts';
import { createProgress } from '../src/progress.ts';
import type { Outcome } from '../src/result.ts';
import { runRounds } from '../src/run-rounds.ts';
import type { Scenario } from '../src/scenario.ts';
import { catalogueOf, scenarios } from '../src/scenarios.ts';
import { measured } from './measured.ts';

const services = {
  mysqlUrl: '',
  redisUrl: '',
  rocketmqEndpoints: '',
  rocketmqNamesrv: '',
  dir: '/',
  pids: {},
  peers: createPeerServices('/'),
};

/** A scenario whose contenders have these outcomes, round by round. */
function scenarioOf(
  name: string,
  outcomes: Readonly<Record<string, Outcome[]>>,
  ran: string[] = [],
): Scenario {
  return {
    name,
    about: '',
    size: { full: 100, quick: 10 },
    contenders: Object.entries(outcomes).map(([contender, own]) => ({
      name: contender,
      about: '',
      seconds: () => 1,
      run: async ({ size }) => {
        ran.push(`${contender} ${size}`);
        return own.shift() ?? { kind: 'skipped', reason: 'nothing left' };
      },
    })),
  };
}

const options = {
  rounds: 2,
  quick: false,
  orders: null,
  only: null,
  services,
  signal: new AbortController().signal,
  say: () => undefined,
};

test('contenders run in turn, round after round, never one after all rounds of the other', async () => {
  const ran: string[] = [];
  const scenario = scenarioOf(
    'close-burst',
    { limit: [measured(100), measured(50)], lapse: [measured(90), measured(40)] },
    ran,
  );
  const [result] = await runRounds([scenario], options);
  expect(ran).toEqual(['limit 100', 'lapse 100', 'limit 100', 'lapse 100']);
  expect(result?.contenders[1]).toMatchObject({
    perSecond: { median: 65, min: 40, max: 90 },
    cpuUsPerOrder: { median: 15 },
  });
});

test('--only runs what it names, --quick and --orders change the size', async () => {
  const ran: string[] = [];
  const all = [
    scenarioOf('close-burst', { limit: [], lapse: [] }, ran),
    scenarioOf('create', { limit: [] }, ran),
  ];
  const only = [{ scenario: 'close-burst', contenders: ['lapse'] }];
  await runRounds(all, { ...options, rounds: 1, quick: true, only });
  await runRounds(all, { ...options, rounds: 1, orders: 7, only: [{ scenario: 'create', contenders: [] }] });
  expect(ran).toEqual(['lapse 10', 'limit 7']);
});

test('a run that was not exact has no figure: no rate, no ratio, and the closing line names it', async () => {
  const lost: Outcome = { kind: 'no-figure', reasons: ['places free in Redis: 99 instead of 100'] };
  const scenario = scenarioOf('close-burst', {
    lapse: [measured(1_000), measured(900)],
    limit: [measured(1_250), measured(1_000)],
    seed: [lost, lost],
  });
  const results = await runRounds([scenario], options);
  expect(results[0]?.contenders[2]).toMatchObject({ perSecond: null, cpuUsPerOrder: null });
  expect(closingLine(results)).toBe(
    'bench: close_vs_limit=0.85 close_vs_seed=n/a close_vs_bullmq=n/a create_vs_limit=n/a create_vs_seed=n/a ' +
      'lateness_p99_ms=n/a early=0 no_figure=close-burst/seed',
  );
});

test('a contender that this machine lacks is named in the closing line too', async () => {
  const skipped: Outcome = { kind: 'skipped', reason: 'rabbitmq-server is not installed' };
  const results = await runRounds([scenarioOf('close-burst', { rabbitmq: [skipped] })], {
    ...options,
    rounds: 1,
  });
  expect(closingLine(results)).toMatch(/ early=n\/a skipped=close-burst\/rabbitmq$/);
});

test('the closing line has every ratio, the worst p99 of steady load, and all that closed early', async () => {
  const latenessMs = { count: 1, p50: 1, p99: 12.4, max: 20, cdf: [] };
  const results = await runRounds(
    [
      scenarioOf('close-burst', {
        lapse: [measured(1_000, { early: 1 })],
        limit: [measured(1_000)],
        seed: [measured(10)],
        bullmq: [measured(25)],
      }),
      scenarioOf('create', { lapse: [measured(60)], limit: [measured(100)], seed: [measured(2)] }),
      scenarioOf('steady', { lapse: [measured(1, { latenessMs, early: 2 })] }),
    ],
    { ...options, rounds: 1 },
  );
  expect(closingLine(results)).toBe(
    'bench: close_vs_limit=1.00 close_vs_seed=100.00 close_vs_bullmq=40.00 create_vs_limit=0.60 ' +
      'create_vs_seed=30.00 lateness_p99_ms=12 early=3',
  );
});

test('the time left follows what the finished runs really took', () => {
  let ms = 0;
  const runs = [
    { name: 'a', seconds: 10 },
    { name: 'b', seconds: 10 },
    { name: 'a', seconds: 10 },
    { name: 'b', seconds: 10 },
  ];
  const progress = createProgress(runs, () => ms);
  expect(progress.begin('a')).toBe('[1/4] a, 40 s left');
  ms += 20_000;
  progress.end();
  // Twice as long as estimated: so will be the others.
  expect(progress.begin('b')).toBe('[2/4] b, 1 min 0 s left');
  ms += 5_000;
  progress.end();
  // Both are known by now.
  expect(progress.begin('a')).toBe('[3/4] a, 25 s left');
});

/** Of the three minutes, the start of the private services takes so long. */
const servicesSeconds = 20;

test('--quick is planned to end within three minutes', async () => {
  expect(await plannedSeconds(['--quick'])).toBeLessThanOrEqual(180 - servicesSeconds);
});

/** Without running anything: what is said to be left at the start. */
async function plannedSeconds(args: readonly string[]): Promise<number> {
  const said: string[] = [];
  const idle = scenarios.map((scenario) => ({
    ...scenario,
    contenders: scenario.contenders.map((contender) => ({
      ...contender,
      run: async (): Promise<Outcome> => ({ kind: 'skipped', reason: 'only planned' }),
    })),
  }));
  const chosen = parseBenchArgs(args, catalogueOf(scenarios));
  await runRounds(idle, { ...options, ...chosen, say: (line) => said.push(line) });
  const [, minutes = '0', seconds] = /(?:(\d+) min )?(\d+) s left$/.exec(said[0] ?? '') ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

test('latencies keep three digits and never exceed what was recorded', () => {
  const recorder = createLatencies();
  recorder.record(2, 98);
  recorder.record(150, 2);
  expect(recorder.read()).toMatchObject({ count: 100, p99: 150, max: 150 });
  expect(recorder.read().p50).toBeCloseTo(2, 2);
  expect(createLatencies().read()).toEqual({ count: 0, p50: 0, p99: 0, max: 0, cdf: [] });
});

test('the distribution is bounded, rises, ends at the longest time and keeps both ends of a step', () => {
  const recorder = createLatencies();
  for (let ms = 1; ms <= 10_000; ms += 1) recorder.record(ms);
  const { cdf } = recorder.read();
  expect(cdf.length).toBeLessThanOrEqual(60);
  expect(cdf).toEqual(cdf.toSorted(([a, x], [b, y]) => a - b || x - y));
  expect(cdf.at(0)).toEqual([1, 0]);
  expect(cdf.at(-1)).toEqual([10_000, 1]);
  expect(cdf.find(([, share]) => share === 0.25)?.[0]).toBeCloseTo(2_500, -2);

  const step = createLatencies();
  step.record(7, 100);
  expect(step.read().cdf).toEqual([
    [7, 0],
    [7, 1],
  ]);
});

test('a scenario may have rounds of its own, which --quick and --rounds overrule', async () => {
  const roundsRun = async (more: object): Promise<number> => {
    const ran: string[] = [];
    const scenario = { ...scenarioOf('growth', { lapse: [] }, ran), rounds: 2 };
    const [result] = await runRounds([scenario], { ...options, rounds: null, ...more });
    expect(result?.rounds).toBe(ran.length);
    return ran.length;
  };
  expect(await roundsRun({})).toBe(2);
  expect(await roundsRun({ quick: true })).toBe(1);
  expect(await roundsRun({ rounds: 5 })).toBe(5);
});
