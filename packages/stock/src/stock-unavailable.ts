import { ReplyError } from 'ioredis';
import { answerText } from './answer-text.ts';

/**
 * Redis did not answer, or cannot take writes now. Whether the operation was applied is unknown. Every
 * operation of this package may be repeated as it is: what was applied once is not applied again.
 */
export class StockUnavailableError extends Error {
  readonly code = 'LAPSE_STOCK_UNAVAILABLE';
  override readonly name = 'StockUnavailableError';
}

/** True when repeating later may help; false when the fault is in the request, the data or the program. */
export function isStockUnavailable(error: unknown): error is StockUnavailableError {
  return error instanceof StockUnavailableError;
}

/**
 * Answers of a server that is there but cannot serve: loading its data, a replica, no master, no cluster,
 * out of memory, unable to persist, busy with a script, a slot that has moved, a user who may not yet do this.
 * They pass, or an operator sees to it, so the caller treats them as absence.
 */
const passingAnswer =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|BUSY|NOREPLICAS|UNKILLABLE|MOVED|ASK|NOPERM)\b/;
/** The same as NOPERM for a command or a key of a script, of Redis up to 7.0 and of later ones: its code is ERR, or none. */
const refusedInScript = /^(?:ERR )?(The user executing the script can't |ACL failure in script)/;

/**
 * Name a failure of ioredis: an answer of the server is that answer, anything else (refused, reset, timed
 * out, aborted, not connected) means that Redis is away.
 */
export function namedFailure(error: unknown, operation: string, connectionFault: unknown): Error {
  const answered = error instanceof ReplyError;
  const text = textOf(error);
  if (answered && !passingAnswer.test(text) && !refusedInScript.test(text)) {
    return new Error(`Redis refused to ${operation}: ${text}`, { cause: error });
  }
  const reason = !answered && connectionFault instanceof Error ? connectionFault.message : text;
  return new StockUnavailableError(`Redis is not available to ${operation}: ${reason}`, { cause: error });
}

/** A transaction that was not begun answers EXECABORT; why is in the answers to its commands. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { previousErrors } = error as { readonly previousErrors?: readonly unknown[] };
  const first = previousErrors?.[0];
  return answerText(first instanceof Error ? first : error);
}
