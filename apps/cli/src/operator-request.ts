import { createHash, randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { idempotencyKey, operatorReason, userId } from '@lapse/contracts';
import type { OperatorRequest } from '@lapse/order-repository';
import { z } from 'zod';
import type { CommandInput } from './command.ts';
import { readInput } from './read-input.ts';
import { UsageError } from './usage-error.ts';

const changeOptions = z.object({
  apply: z.boolean().default(false),
  reason: operatorReason.optional(),
  actor: userId.optional(),
  key: idempotencyKey.optional(),
});

/** A change that somebody asks for, or would: without --apply nothing is changed. */
export interface AskedChange {
  readonly apply: boolean;
  /** With a key in any case, so that a change whose answer was lost can be asked for again. */
  readonly request: OperatorRequest & { readonly idempotency: { readonly key: string } };
}

/** Who runs this, unless --actor says so. */
function defaultActor(): string {
  try {
    return userInfo().username;
  } catch {
    throw new UsageError('--actor must be given: this user has no name here');
  }
}

/**
 * Who asks for a change, why, and under which key.
 * @param command with `parts` it makes a repeat the same request.
 * @throws UsageError with --apply and without --reason.
 */
export function askedChange(
  { options }: CommandInput,
  command: string,
  parts: readonly unknown[],
): AskedChange {
  const { apply, reason, actor = defaultActor(), key = randomUUID() } = readInput(changeOptions, options);
  if (apply && reason === undefined) {
    throw new UsageError('--reason TEXT must be given with --apply: it is kept with the change');
  }
  const requestHash = createHash('sha256')
    .update(JSON.stringify(['lapse', command, ...parts]))
    .digest();
  return { apply, request: { actor, reason: reason ?? 'dry run', idempotency: { key, requestHash } } };
}
