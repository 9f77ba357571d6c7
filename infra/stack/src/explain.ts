/**
 * What a person reads when a command fails. An error with a code of ours is complete by itself, and
 * so is what caused it; a surprise shows its stack.
 */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\nCaused by: ${explainCause(error.cause)}`;
  return isKnown(error) ? `${error.message}${cause}` : `${error.stack ?? error.message}${cause}`;
}

function explainCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const deeper = cause.cause === undefined ? '' : `\nCaused by: ${explainCause(cause.cause)}`;
  const code = 'code' in cause ? `${String(cause.code)} ` : '';
  return `${code}${cause.message}${deeper}`;
}

function isKnown(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('LAPSE_');
}
