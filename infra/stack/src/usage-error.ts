/** A person typed something that cannot be done. The message says what would work. */
export class UsageError extends Error {
  readonly code = 'LAPSE_USAGE';
  override readonly name = 'UsageError';
}
