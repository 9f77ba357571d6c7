import type { InvariantId } from '../../../src/index.ts';
import type { World } from '../world.ts';

/** What is planted, which invariants the oracle must name, and the order it must name with them. */
export interface Plant {
  readonly name: string;
  readonly plant: (world: World) => Promise<unknown>;
  readonly fails: readonly InvariantId[];
  readonly says: RegExp;
  readonly order?: keyof World['orders'];
  /** Seen while the system runs, too. */
  readonly always?: true;
  /** Of an order that is not there: seen whichever activities are asked for. */
  readonly ofNobody?: true;
}
