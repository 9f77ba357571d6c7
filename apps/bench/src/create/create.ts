import type { Scenario } from '../scenario.ts';
import type { HttpContender } from './http-contender.ts';
import { httpContenders } from './http-contenders.ts';
import { type CreateManner, runCreate } from './run-create.ts';

/** Requests a second that each answers at least, for the time left alone. */
const slowest: Readonly<Record<string, number>> = { limit: 3_000, lapse: 1_000, seed: 100 };
const setUpSeconds = 12;

/** One hot activity, 256 connections. */
export const create = scenarioOf('create', 'orders placed over HTTP', { connections: 256, isSoldOut: false });
/** The same with fewer buyers at a time: smaller batches. */
export const create64 = scenarioOf('create-64', 'orders placed over HTTP', {
  connections: 64,
  isSoldOut: false,
});
/** What most people of a rush meet. */
export const soldOut = scenarioOf('sold-out', 'refusals over HTTP, no place is free', {
  connections: 256,
  isSoldOut: true,
});

function scenarioOf(name: string, what: string, manner: CreateManner): Scenario {
  return {
    name,
    about: `${what}, one activity, ${manner.connections} connections, each with one request in flight`,
    size: { full: 20_000, quick: 5_000 },
    contenders: httpContenders.map((contender) => ({
      name: contender.name,
      about: contender.about,
      seconds: (size) => secondsOf(contender, size),
      run: (options) => runCreate(contender, manner, options),
    })),
  };
}

function secondsOf({ name, ordersMax }: HttpContender, size: number): number {
  return setUpSeconds + Math.min(size, ordersMax) / (slowest[name] ?? 1);
}
