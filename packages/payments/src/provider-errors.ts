/** The provider did not answer, or said "later": nothing is known of what was asked. Ask again. */
export class ProviderUnavailableError extends Error {
  readonly code = 'LAPSE_PROVIDER_UNAVAILABLE';
  override readonly name = 'ProviderUnavailableError';
}

/** The provider says no, and will say so again: the request itself is at fault. */
export class ProviderRefusedError extends Error {
  readonly code = 'LAPSE_PROVIDER_REFUSED';
  override readonly name = 'ProviderRefusedError';
}
