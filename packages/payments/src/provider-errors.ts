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

/**
 * A webhook whose signature is good and whose body is not what was agreed. Answer 400 and tell the operator: it
 * may be a payment, so it must not be taken for an event of no meaning.
 */
export class WebhookBodyError extends Error {
  readonly code = 'LAPSE_WEBHOOK_BODY_INVALID';
  override readonly name = 'WebhookBodyError';
  /** The wrong fields, as paths in the body: `data.amountMinor`. */
  readonly errors: readonly { readonly field: string; readonly message: string }[];

  constructor(errors: WebhookBodyError['errors']) {
    super(
      `The body of a signed webhook is not valid: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`,
    );
    this.errors = errors;
  }
}
