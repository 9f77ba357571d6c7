/** The order is held for another buyer or quantity: order ids were mixed up. That hold is theirs; nothing was taken. */
export class HoldDiffersError extends Error {
  readonly code = 'LAPSE_STOCK_HOLD_DIFFERS';
  override readonly name = 'HoldDiffersError';
}
