import { sleep } from '@lapse/runtime';
import type { RowDataPacket } from 'mysql2/promise';
import type { BurstTask } from '../burst/burst-task.ts';
import { readLateness } from '../burst/read-lateness.ts';
import { judgeReminded } from './judge-reminded.ts';

const trailMs = 500;

/** Like `reminding`, but an order is done once its buyer was told: its notice was delivered, and that is committed. */
export const notifying: BurstTask = {
  name: 'notify',
  dueColumn: 'remind_at',
  countDone: async ({ mysql }) => {
    const [[row]] = await mysql.query<RowDataPacket[]>(
      "SELECT COUNT(*) AS n FROM notification WHERE state = 'SENT' AND stage = 'REMINDER'",
    );
    return { mysql: Number(row?.n) };
  },
  settle: (_stores, _sale, _contender, signal) => sleep(trailMs, signal),
  judge: judgeReminded,
  readLateness: ({ mysql }, { activities }) =>
    readLateness(mysql, activities, {
      due: 'remind_at',
      done: 'notification.sent_at',
      rows: 'orders JOIN notification ON order_id = orders.id',
    }),
};
