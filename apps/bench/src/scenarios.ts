import type { Catalogue } from './args.ts';
import { closeBurst, closeBurst100 } from './close-burst/close-burst.ts';
import { twoClosers } from './close-burst/two-closers.ts';
import { create, soldOut } from './create/create.ts';
import { twoProducers } from './create/two-producers.ts';
import { growthClose, growthCreate } from './growth.ts';
import { idle } from './idle/idle.ts';
import { noticeBurst, remindBurst } from './remind-burst/remind-burst.ts';
import { rolling } from './rolling/rolling.ts';
import type { Scenario } from './scenario.ts';
import { start } from './start/start.ts';
import { steady, steadyDefaultPrecision } from './steady/steady.ts';

export const scenarios: readonly Scenario[] = [
  closeBurst,
  closeBurst100,
  remindBurst,
  noticeBurst,
  twoClosers,
  create,
  soldOut,
  twoProducers,
  growthCreate,
  growthClose,
  steady,
  steadyDefaultPrecision,
  rolling,
  idle,
  start,
];

export function catalogueOf(all: readonly Scenario[]): Catalogue {
  return Object.fromEntries(all.map(({ name, contenders }) => [name, contenders.map((each) => each.name)]));
}
