import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertOperatorAction } from './insert-operator-action.ts';
import type { ChangeAction, OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { Session } from './session.ts';
import { inTransaction, type Witness } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

/** What a change did, each part of it for the audit trail; or why it did nothing. */
export type Changed<Done, Refused> =
  | { readonly kind: 'done'; readonly result: Done; readonly actions: readonly ChangeAction[] }
  | { readonly kind: 'refused'; readonly result: Refused };

export interface OperatorChange<Done, Refused> {
  readonly change: (session: Session) => Promise<Changed<Done, Refused>>;
  /** The answer to keep; pure. */
  readonly answer: (result: Done) => StoredAnswer;
}

interface KeyRow {
  readonly request_hash: Buffer;
  readonly status: number | null;
  readonly answer: Buffer | null;
}

/**
 * Make a change by hand, note who made it and why, and keep the answer under its idempotency key: one
 * transaction, so that after a crash either all three are there or none.
 *
 * The key's row goes in first, and its lock makes a second request with the key wait for the first, then get its
 * answer. A refusal changes nothing and is not kept: asked again, it is judged again, as with orders.
 */
export async function changeByOperator<Done, Refused>(
  database: Database,
  request: OperatorRequest,
  { change, answer }: OperatorChange<Done, Refused>,
): Promise<OperatorResult<Done, Refused>> {
  const { outcome } = await inTransaction<Attempt<Done, Refused>>(
    database,
    async (session) => {
      const earlier = await takeKey(session, request);
      if (earlier) return { outcome: earlier, witness: null };
      const changed = await change(session);
      if (changed.kind === 'refused') {
        await dropKey(session, request);
        return { outcome: changed, witness: null };
      }
      const { actor, reason } = request;
      const actionIds: string[] = [];
      for (const action of changed.actions) {
        actionIds.push(await insertOperatorAction(session, { ...action, actor, reason }));
      }
      const answered = answer(changed.result);
      await keepAnswer(session, request, answered);
      return {
        outcome: { kind: 'done', result: changed.result, answer: answered },
        witness: witnessOf(request, actionIds),
      };
    },
    ({ witness }) => witness,
  );
  return outcome;
}

/** A change that found nothing to do left its answer at most. */
function witnessOf({ actor, idempotency }: OperatorRequest, [actionId]: readonly string[]): Witness | null {
  if (actionId !== undefined) {
    return { sql: 'SELECT 1 FROM operator_action WHERE id = ?', values: [idToBytes(actionId)] };
  }
  if (idempotency === undefined) return null;
  return {
    sql: 'SELECT 1 FROM idempotency_key WHERE owner = ? AND idem_key = ?',
    values: [userToBytes(actor), Buffer.from(idempotency.key, 'latin1')],
  };
}

interface Attempt<Done, Refused> {
  readonly outcome: OperatorResult<Done, Refused>;
  readonly witness: Witness | null;
}

/** @returns what an earlier request with the key came to; undefined when this one is the first. */
async function takeKey(
  session: Session,
  { actor, idempotency }: OperatorRequest,
): Promise<Exclude<OperatorResult<never, never>, { kind: 'done' | 'refused' }> | undefined> {
  if (idempotency === undefined) return undefined;
  const { key, requestHash } = idempotency;
  const { affectedRows } = await session.run(
    `INSERT INTO idempotency_key (owner, idem_key, request_hash, created_at) VALUES (?, ?, ?, NOW(3))
     ON DUPLICATE KEY UPDATE owner = idempotency_key.owner`,
    [userToBytes(actor), Buffer.from(key, 'latin1'), requestHash],
  );
  if (affectedRows === 1) return undefined;
  const [row] = await session.rows<KeyRow>(
    'SELECT request_hash, status, answer FROM idempotency_key WHERE owner = ? AND idem_key = ?',
    [userToBytes(actor), Buffer.from(key, 'latin1')],
  );
  if (row === undefined) throw new InvariantError('a locked idempotency key is not there');
  if (!row.request_hash.equals(requestHash)) return { kind: 'key_reused' };
  if (row.status === null || row.answer === null) {
    throw new InvariantError('an idempotency key was committed without its answer');
  }
  return { kind: 'replayed', answer: { status: row.status, body: row.answer } };
}

async function keepAnswer(
  session: Session,
  { actor, idempotency }: OperatorRequest,
  { status, body }: StoredAnswer,
): Promise<void> {
  if (idempotency === undefined) return;
  await session.run('UPDATE idempotency_key SET status = ?, answer = ? WHERE owner = ? AND idem_key = ?', [
    status,
    body,
    userToBytes(actor),
    Buffer.from(idempotency.key, 'latin1'),
  ]);
}

async function dropKey(session: Session, { actor, idempotency }: OperatorRequest): Promise<void> {
  if (idempotency === undefined) return;
  await session.run('DELETE FROM idempotency_key WHERE owner = ? AND idem_key = ?', [
    userToBytes(actor),
    Buffer.from(idempotency.key, 'latin1'),
  ]);
}
