import { idToBytes, newId } from './binary-id.ts';
import type { ChangeAction } from './operator-result.ts';
import type { Session } from './session.ts';
import { userToBytes } from './user-bytes.ts';

interface OperatorAction extends ChangeAction {
  readonly actor: string;
  /** Why, in the operator's words; at most 500 characters are kept. */
  readonly reason: string;
}

const reasonLengthMax = 500;

/** Write down who changed what by hand. Part of the transaction of the change: committed with it or not at all. */
export async function insertOperatorAction(session: Session, action: OperatorAction): Promise<string> {
  const id = newId();
  await session.run(
    `INSERT INTO operator_action (id, at, actor, action, target_kind, target, reason, detail)
     VALUES (?, NOW(3), ?, ?, ?, ?, ?, ?)`,
    [
      idToBytes(id),
      userToBytes(action.actor),
      action.action,
      action.targetKind,
      Buffer.from(action.target),
      action.reason.slice(0, reasonLengthMax),
      action.detail === undefined ? null : JSON.stringify(action.detail),
    ],
  );
  return id;
}
