import type { Database } from './database.ts';
import { changeByOperator } from './operator-change.ts';
import type { ChangeAction, OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';

/**
 * Write down that an operator asks for something that is not a change of MySQL's own rows: a load of Redis, for one.
 * Noted before it is done, so that nothing is done that nobody knows of. A repeat with the key is noted once.
 */
export function noteAction(
  database: Database,
  request: OperatorRequest,
  action: ChangeAction,
  answer: StoredAnswer,
): Promise<OperatorResult<null, never>> {
  return changeByOperator<null, never>(database, request, {
    change: async () => ({ kind: 'done', result: null, actions: [action] }),
    answer: () => answer,
  });
}
