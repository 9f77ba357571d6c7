import { queryDatabase } from '@lapse/testing';

export interface BookedOrder {
  readonly id: string;
  readonly activityId: number;
  readonly user: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: string;
  readonly key: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Null: it did not close by timeout. */
  readonly closedByTimeoutAt: number | null;
}

export interface BookedPayment {
  readonly paymentId: string;
  readonly orderId: string;
  readonly state: string;
}

/** What MySQL has written down, as the ledger's owner reads it: plain rows, no rule of the product. */
export interface Books {
  readonly orders: ReadonlyMap<string, BookedOrder>;
  readonly payments: readonly BookedPayment[];
}

const uuid = (column: string): string =>
  `LOWER(INSERT(INSERT(INSERT(INSERT(HEX(${column}), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'))`;
const ms = (column: string): string => `CAST(ROUND(UNIX_TIMESTAMP(${column}) * 1000) AS DOUBLE)`;

export async function readBooks(mysqlUrl: string): Promise<Books> {
  const orders = (await queryDatabase(
    mysqlUrl,
    `SELECT ${uuid('o.id')} AS id, CAST(o.activity_id AS DOUBLE) AS activityId,
       CONVERT(o.user_id USING utf8mb4) AS user, o.quantity,
       CAST(o.amount_minor AS DOUBLE) AS amountMinor, o.currency, o.status,
       CONVERT(o.idempotency_key USING utf8mb4) AS \`key\`, ${ms('o.created_at')} AS createdAt,
       ${ms('o.expires_at')} AS expiresAt, ${ms('t.at')} AS closedByTimeoutAt
     FROM orders o LEFT JOIN order_transition t ON t.order_id = o.id AND t.to_status = 'TIMEOUT_CLOSED'`,
  )) as unknown as BookedOrder[];
  const payments = (await queryDatabase(
    mysqlUrl,
    `SELECT CONVERT(payment_id USING utf8mb4) AS paymentId, ${uuid('order_id')} AS orderId, state
     FROM payment WHERE type LIKE '%captured'`,
  )) as unknown as BookedPayment[];
  return { orders: new Map(orders.map((order) => [order.id, order])), payments };
}
