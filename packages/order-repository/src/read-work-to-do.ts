import type { Database } from './database.ts';
import type { WorkToDo } from './order-views.ts';
import { withRetriedSession } from './transaction.ts';

interface WorkRow {
  readonly outbox_rows: number;
  readonly outbox_us: number | null;
  readonly effect_rows: number;
  readonly effect_us: number | null;
  readonly parked_orders: number;
  readonly parked_messages: number;
  readonly parked_dead: number;
  readonly notices_failing: number;
  readonly notices_given_up: number;
}

const parked = (kind: string): string =>
  `(SELECT COUNT(*) FROM parked WHERE state = 'PARKED' AND kind = '${kind}')`;
const ageUs = 'TIMESTAMPDIFF(MICROSECOND, MIN(created_at), NOW(3))';

/** Counts of what is not done, by index alone: little while everything works. One statement. */
export function readWorkToDo(database: Database): Promise<WorkToDo> {
  return withRetriedSession(database, async (session) => {
    const [row] = await session.rows<WorkRow>(
      `SELECT outbox.*, effects.*,
         ${parked('order')} AS parked_orders,
         ${parked('message')} AS parked_messages,
         ${parked('dead_letter')} AS parked_dead,
         (SELECT COUNT(*) FROM notification WHERE state = 'WAITING' AND attempts > 1) AS notices_failing,
         (SELECT COUNT(*) FROM notification WHERE state = 'PARKED') AS notices_given_up
       FROM
         (SELECT COUNT(*) AS outbox_rows, ${ageUs} AS outbox_us FROM message_outbox WHERE sent_at IS NULL) AS outbox,
         (SELECT COUNT(*) AS effect_rows, ${ageUs} AS effect_us FROM effect) AS effects`,
    );
    if (row === undefined) throw new Error('a count answered no row');
    return {
      outbox: { rows: Number(row.outbox_rows), oldestMs: toMs(row.outbox_us) },
      effects: { rows: Number(row.effect_rows), oldestMs: toMs(row.effect_us) },
      parked: {
        orders: Number(row.parked_orders),
        messages: Number(row.parked_messages),
        deadLetters: Number(row.parked_dead),
      },
      notices: { failing: Number(row.notices_failing), givenUp: Number(row.notices_given_up) },
    };
  });
}

function toMs(us: number | null): number {
  return Math.max(0, Math.floor(Number(us ?? 0) / 1_000));
}
