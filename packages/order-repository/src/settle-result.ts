import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';

/** Who settles rows by hand, and why. A dry run says what would happen, changes nothing and uses up no key. */
export interface SettleOptions extends OperatorRequest {
  readonly dryRun: boolean;
}

/** What became of each row, in the order of the ids. */
export type SettleResult<Outcome> = OperatorResult<readonly Outcome[], never>;
export type SettleAnswer<Outcome> = (outcomes: readonly Outcome[]) => StoredAnswer;

/** Which rows, by whom, and how the answer to keep is made of what became of them. */
export interface SettleRequest<Id, Outcome> {
  readonly ids: readonly Id[];
  readonly options: SettleOptions;
  readonly answer: SettleAnswer<Outcome>;
}

/** MySQL refuses this row even for this: its cause is not gone. It stays as it was. */
export interface RowRefused<Id> {
  readonly id: Id;
  readonly changed: false;
  readonly kind: 'failed';
  readonly reason: string;
}
