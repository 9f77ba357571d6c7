/** One part of a change, as the audit trail keeps it. */
export interface ChangeAction {
  /** What was done, such as `redrive`. */
  readonly action: string;
  readonly targetKind: string;
  readonly target: string;
  readonly detail?: object;
}

/** Who asks for a change by hand, and why. */
export interface OperatorRequest {
  /** The operator: `sub` of the token. */
  readonly actor: string;
  /** At most 500 characters. */
  readonly reason: string;
  /** Given: the same key and request get the first answer again, byte for byte, for at least 24 hours. */
  readonly idempotency?: {
    readonly key: string;
    /** SHA-256 of the request, 32 bytes. */
    readonly requestHash: Buffer;
  };
}

/** What an operator was answered. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export type OperatorResult<Done, Refused> =
  | { readonly kind: 'done'; readonly result: Done; readonly answer: StoredAnswer }
  /** The same request came before; `answer` is its first answer. Nothing was changed now. */
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer }
  /** The key came with another request before. */
  | { readonly kind: 'key_reused' }
  | { readonly kind: 'refused'; readonly result: Refused };
