import { sleep } from '@lapse/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { farMs, type Sale } from '../sale.ts';
import type { BurstTask } from './burst-task.ts';

const lookEveryMs = 50;

/** Wait for the deadline, which is set once all processes are ready, and return it: ms since 1970, some seconds ahead. */
export async function readDeadline(
  { mysqlUrl, activityId }: Sale,
  column: BurstTask['dueColumn'] = 'expires_at',
): Promise<number> {
  const mysql = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  for (;;) {
    const [[row]] = await mysql.query<RowDataPacket[]>(
      `SELECT ${column} AS due FROM orders WHERE activity_id = ? ORDER BY id DESC LIMIT 1`,
      [activityId],
    );
    const dueAtMs = Number(row?.due);
    // Until then the reminder is half as far away as the deadline.
    if (dueAtMs - Date.now() < farMs / 4) {
      await mysql.end();
      return dueAtMs;
    }
    await sleep(lookEveryMs);
  }
}
