import type { Outcome } from '../result.ts';
import type { RunOptions, Scenario } from '../scenario.ts';
import { ordersBeforeSteady, runSteady, type SteadyManner } from './run-steady.ts';

const setUpSeconds = 20;

/** A short time to pay: what closes, and what it costs, does not depend on it, and a run need not wait for it. */
const manner: SteadyManner = {
  perSecond: 200,
  times: { payWithinMs: 10_000, remindAfterMs: 5_000 },
  warmUpMs: 5_000,
};

const beforeSeconds = ordersBeforeSteady(manner) / manner.perSecond;
const about =
  `${manner.perSecond} orders a second over HTTP at random moments, none paid, each reminded of after ` +
  `${manner.times.remindAfterMs / 1_000} s and due after ${manner.times.payWithinMs / 1_000} s; lateness by the database ` +
  `clock of those that are due while others come in, after ${beforeSeconds} s of warm-up`;

interface SteadyPlan extends Pick<Scenario, 'name' | 'about'> {
  /** Of the part that counts. */
  readonly fullSeconds: number;
  readonly processes: string;
  readonly setUpSeconds: number;
  readonly run: (options: RunOptions) => Promise<Outcome>;
}

/** A stream of orders, none of them paid: how late does each close after its own deadline? */
export const steady = steadyScenario({
  name: 'steady',
  about,
  fullSeconds: 300,
  processes: 'producer, reminder, closer and sweeper, one process each, default settings',
  setUpSeconds,
  run: (options) => runSteady(manner, options),
});

/** RocketMQ wakes up once a second there. */
export const steadyDefaultPrecision = steadyScenario({
  name: 'steady-default-precision',
  about: `${about}; the broker at its default timerPrecisionMs=1000`,
  fullSeconds: 30,
  processes: 'the same processes and settings; a RocketMQ of their own',
  setUpSeconds: 2 * setUpSeconds,
  run: runBesideDefaultRocketmq,
});

function steadyScenario({ fullSeconds, processes, setUpSeconds, run, ...rest }: SteadyPlan): Scenario {
  const { perSecond, times } = manner;
  return {
    ...rest,
    size: { full: (beforeSeconds + fullSeconds) * perSecond, quick: 2 * beforeSeconds * perSecond },
    rounds: 1,
    contenders: [
      {
        name: 'lapse',
        about: processes,
        seconds: (size) => setUpSeconds + size / perSecond + times.payWithinMs / 1_000,
        run,
      },
    ],
  };
}

async function runBesideDefaultRocketmq(options: RunOptions): Promise<Outcome> {
  const { services } = options;
  const rocketmq = await services.peers.defaultRocketmq();
  if (typeof rocketmq === 'string') return { kind: 'skipped', reason: rocketmq };
  const { endpoints, namesrv, pids } = rocketmq;
  return await runSteady(manner, {
    ...options,
    services: {
      ...services,
      rocketmqEndpoints: endpoints,
      rocketmqNamesrv: namesrv,
      pids: { ...services.pids, broker: pids },
    },
  });
}
