import { lapse } from './contenders/lapse.ts';
import { limit } from './contenders/limit.ts';
import { seed } from './contenders/seed.ts';
import { createScenario } from './create-scenario.ts';
import { httpContenders } from './http-contenders.ts';

const size = { full: 20_000, quick: 5_000 } as const;

/** One hot activity, 256 connections. */
export const create = createScenario({
  name: 'create',
  size,
  about: 'orders placed over HTTP',
  connections: 256,
  isSoldOut: false,
  contenders: httpContenders,
});

/** The same with fewer buyers at a time: smaller batches. */
export const create64 = createScenario({
  name: 'create-64',
  size,
  about: 'orders placed over HTTP',
  connections: 64,
  isSoldOut: false,
  // Beside `create`, for the shape of it: no goal asks for it.
  rounds: 1,
  contenders: [limit, lapse, seed],
});

/** What most people of a rush meet. */
export const soldOut = createScenario({
  name: 'sold-out',
  size,
  about: 'refusals over HTTP, no place is free',
  connections: 256,
  isSoldOut: true,
  // The seed refuses by the same commands: it has nothing to show here.
  contenders: [limit, lapse],
});
