import type { SimulatorFaults } from '@lapse/contracts';
import type { Logger } from '@lapse/runtime';
import type { Bank } from './bank.ts';
import type { Books } from './books.ts';

/** What the routes work with. */
export interface Dependencies {
  readonly bank: Bank;
  readonly books: Books;
  readonly apiKey: string;
  /** Replaced whole by `PUT /v1/faults`. */
  readonly faults: { current: SimulatorFaults };
  /** Begin of the links to payment pages; known only once the server listens. */
  readonly pageUrl: () => string;
  readonly log: Logger;
}
