import { lapse } from './contenders/lapse.ts';
import { createScenario } from './create-scenario.ts';
import type { HttpContender } from './http-contender.ts';

const producerCounts: readonly HttpContender[] = [
  { ...lapse, name: 'one', about: 'apps/producer as it is deployed; processes: 1' },
  { ...lapse, name: 'two', about: 'apps/producer as it is deployed; processes: 2', processes: 2 },
];

/** The buyers are the same and so are their connections: what a second producer adds is its core. */
export const twoProducers = createScenario({
  name: 'two-producers',
  about: 'orders placed over HTTP at one process, and at two that share the connections',
  size: { full: 20_000, quick: 2_000 },
  connections: 256,
  isSoldOut: false,
  contenders: producerCounts,
});
