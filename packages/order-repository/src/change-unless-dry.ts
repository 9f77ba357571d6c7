import type { Database } from './database.ts';
import { type Changed, changeByOperator } from './operator-change.ts';
import type { OperatorResult, StoredAnswer } from './operator-result.ts';
import type { Session } from './session.ts';
import type { SettleOptions } from './settle-result.ts';
import { withRetriedSession } from './transaction.ts';

export interface DryChange<Done, Refused> {
  /** In a dry run it must only read. A result without actions is noted nowhere. */
  readonly change: (session: Session, dryRun: boolean) => Promise<Changed<Done, Refused>>;
  /** The answer to keep; pure. */
  readonly answer: (result: Done) => StoredAnswer;
}

/** A change by an operator's hand, as `changeByOperator` makes it; a dry run changes nothing and uses up no key. */
export async function changeUnlessDry<Done, Refused>(
  database: Database,
  options: SettleOptions,
  { change, answer }: DryChange<Done, Refused>,
): Promise<OperatorResult<Done, Refused>> {
  if (!options.dryRun) {
    return changeByOperator(database, options, { change: (session) => change(session, false), answer });
  }
  const changed = await withRetriedSession(database, (session) => change(session, true));
  if (changed.kind === 'refused') return changed;
  return { kind: 'done', result: changed.result, answer: answer(changed.result) };
}
