interface RearmedRow {
  readonly id: string;
  readonly orders: readonly unknown[];
}

/** The few operations needed, so that this package imports neither the repository nor the messaging. */
export interface RearmPorts<Row extends RearmedRow> {
  readonly phase: 1 | 2;
  readonly orders: { rearm(phase: 1 | 2, ids: string[]): Promise<Row | null> };
  readonly relay: { add(row: Row): void };
  readonly log: { info(fields: object, message: string): void };
}

/**
 * Orders whose time is further away than a message may be held: a deadline that was moved, or one beyond
 * the broker's longest delay. They get a new message, with the time that their rows have now. Resolves
 * once that message's outbox row is committed: only then may the old message go.
 */
export function rearmOrders<Row extends RearmedRow>({ phase, orders, relay, log }: RearmPorts<Row>) {
  return async (far: readonly { readonly orderId: string }[]): Promise<void> => {
    const row = await orders.rearm(
      phase,
      far.map(({ orderId }) => orderId),
    );
    // None is pending any more: nothing to send.
    if (!row) return;
    relay.add(row);
    log.info({ phase, orders: row.orders.length, outboxId: row.id }, 'due later than the message: re-armed');
  };
}
