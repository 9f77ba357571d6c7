import type { Scenario } from '../scenario.ts';
import type { HttpContender } from './http-contender.ts';
import { type CreateManner, runCreate, warmUpShare } from './run-create.ts';

/** Requests a second that each answers at least, for the time left alone. */
const slowest: Readonly<Record<string, number>> = { limit: 3_000, seed: 200 };
const slowestLapse = 1_500;
const setUpSeconds = 8;

export interface CreatePlan extends Omit<Scenario, 'contenders'>, CreateManner {
  readonly contenders: readonly HttpContender[];
}

/** A scenario whose contenders answer the same requests over HTTP. */
export function createScenario(plan: CreatePlan): Scenario {
  const { contenders, connections, isSoldOut, pending = 0, about, ...rest } = plan;
  const manner = { connections, isSoldOut, pending };
  return {
    ...rest,
    about: `${about}, one activity, ${connections} connections, each with one request in flight`,
    contenders: contenders.map((contender) => ({
      name: contender.name,
      about: contender.about,
      ...(contender.roundsMax !== undefined && { roundsMax: contender.roundsMax }),
      seconds: (size) => secondsOf(contender, size),
      run: (options) => runCreate(contender, manner, options),
    })),
  };
}

function secondsOf({ name, ordersMax, processes = 1 }: HttpContender, size: number): number {
  const requests = Math.min(size, ordersMax) * (1 + warmUpShare * processes);
  return setUpSeconds + requests / (slowest[name] ?? slowestLapse);
}
