import { sleep } from '@lapse/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { farMs, type Sale } from '../sale.ts';

const lookEveryMs = 50;

/** Wait for the deadline, which is set once all processes are ready, and return it: ms since 1970, some seconds ahead. */
export async function readDeadline({ mysqlUrl, activityId }: Sale): Promise<number> {
  const mysql = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  for (;;) {
    const [[row]] = await mysql.query<RowDataPacket[]>(
      'SELECT expires_at FROM orders WHERE activity_id = ? ORDER BY id DESC LIMIT 1',
      [activityId],
    );
    const dueAtMs = Number(row?.expires_at);
    if (dueAtMs - Date.now() < farMs / 2) {
      await mysql.end();
      return dueAtMs;
    }
    await sleep(lookEveryMs);
  }
}
