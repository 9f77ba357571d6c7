import { createScenario } from './create-scenario.ts';
import { createContenders, refusalContenders } from './http-contenders.ts';

const size = { full: 20_000, quick: 5_000 } as const;

/** One hot activity, 256 connections. */
export const create = createScenario({
  name: 'create',
  size,
  about: 'orders placed over HTTP',
  connections: 256,
  isSoldOut: false,
  contenders: createContenders,
});

/** What most people of a rush meet. */
export const soldOut = createScenario({
  name: 'sold-out',
  size,
  about: 'refusals over HTTP, no place is free',
  connections: 256,
  isSoldOut: true,
  contenders: refusalContenders,
});
