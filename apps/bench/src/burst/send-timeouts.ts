import { type Phase, type TimeoutOrder, timeoutMessageVersion } from '@lapse/contracts';
import { openTimeoutSender } from '@lapse/messaging';
import { readConfig } from '@lapse/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { lapseEnvironment } from '../lapse-environment.ts';
import { quietLog } from '../quiet-log.ts';
import { idsOf, type Sale } from '../sale.ts';

export interface SendManner {
  readonly phase: Phase;
  readonly ordersPerMessage: number;
  /** How long before their deadline the orders are delivered. */
  readonly leadMs: number;
  readonly sendsAtOnce: number;
}

const startMs = 1_000;
/** Some five times what it takes on a quiet machine. */
const msPerMessage = 12;

/** How long sending may take, with the start of the process. */
export function sendMsMax(orders: number, ordersPerMessage: number): number {
  return startMs + (orders / ordersPerMessage) * msPerMessage;
}

/**
 * Send the messages of a phase for all orders of the sale, whose activities are mixed as buyers mix them. Resolves once
 * the broker has confirmed each.
 */
export async function sendTimeouts(sale: Sale, dueTime: number, manner: SendManner): Promise<void> {
  const { rocketmq } = readConfig(lapseEnvironment(sale), ['rocketmq']);
  const sender = await openTimeoutSender(rocketmq, quietLog);
  // One iterator for all lanes: each takes the next batch.
  const batches = inBatches(await readTimeoutOrders(sale, dueTime), manner.ordersPerMessage);
  const lane = async (): Promise<void> => {
    for (const orders of batches) {
      const message = { version: timeoutMessageVersion, phase: manner.phase, dueTime, orders } as const;
      await sender.send(message, dueTime - manner.leadMs);
    }
  };
  await Promise.all(Array.from({ length: manner.sendsAtOnce }, lane));
  await sender.close();
}

async function readTimeoutOrders({ mysqlUrl, activities }: Sale, dueTime: number): Promise<TimeoutOrder[]> {
  const mysql = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  const [rows] = await mysql.query<RowDataPacket[]>(
    `SELECT LOWER(HEX(id)) AS id, activity_id AS activityId, CONVERT(user_id USING utf8mb4) AS userId,
       created_at AS createdAt
     FROM orders WHERE activity_id IN (?) ORDER BY id`,
    [idsOf(activities)],
  );
  await mysql.end();
  return rows.map(({ id, activityId, userId, createdAt }) => ({
    orderId: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    activityId,
    userId,
    createTime: createdAt.getTime(),
    dueTime,
  }));
}

function* inBatches<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
