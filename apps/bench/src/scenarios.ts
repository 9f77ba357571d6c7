import type { Catalogue } from './args.ts';
import { closeBurst } from './close-burst/close-burst.ts';
import type { Scenario } from './scenario.ts';

export const scenarios: readonly Scenario[] = [closeBurst];

export function catalogueOf(all: readonly Scenario[]): Catalogue {
  return Object.fromEntries(all.map(({ name, contenders }) => [name, contenders.map((each) => each.name)]));
}
