import type { Database } from './database.ts';
import { type EffectKind, effectKinds } from './effect-kind.ts';
import type { WorkToDo } from './order-views.ts';
import { withRetriedSession } from './transaction.ts';

type EffectColumns = Readonly<Record<`${EffectKind}_rows` | `${EffectKind}_us`, number | null>>;
interface WorkRow extends EffectColumns {
  readonly outbox_rows: number;
  readonly outbox_us: number | null;
  readonly parked_orders: number;
  readonly parked_messages: number;
  readonly parked_dead: number;
  readonly notices_failing: number;
  readonly notices_given_up: number;
}

const parked = (kind: string): string =>
  `(SELECT COUNT(*) FROM parked WHERE state = 'PARKED' AND kind = '${kind}')`;
const ageUs = (createdAt: string): string => `TIMESTAMPDIFF(MICROSECOND, MIN(${createdAt}), NOW(3))`;
const ofKind = (kind: EffectKind): string =>
  `SUM(kind = '${kind}') AS ${kind}_rows, ${ageUs(`IF(kind = '${kind}', created_at, NULL)`)} AS ${kind}_us`;

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
         (SELECT COUNT(*) AS outbox_rows, ${ageUs('created_at')} AS outbox_us
          FROM message_outbox WHERE sent_at IS NULL) AS outbox,
         (SELECT ${effectKinds.map(ofKind).join(', ')} FROM effect) AS effects`,
    );
    if (row === undefined) throw new Error('a count answered no row');
    return {
      outbox: { rows: Number(row.outbox_rows), oldestMs: toMs(row.outbox_us) },
      effects: toEffects(row),
      parked: {
        orders: Number(row.parked_orders),
        messages: Number(row.parked_messages),
        deadLetters: Number(row.parked_dead),
      },
      notices: { failing: Number(row.notices_failing), givenUp: Number(row.notices_given_up) },
    };
  });
}

function toEffects(row: EffectColumns): WorkToDo['effects'] {
  const kinds = effectKinds.map((kind) => {
    const waiting = { rows: Number(row[`${kind}_rows`] ?? 0), oldestMs: toMs(row[`${kind}_us`]) };
    return [kind, waiting] as const;
  });
  return {
    rows: kinds.reduce((sum, [, { rows }]) => sum + rows, 0),
    oldestMs: Math.max(...kinds.map(([, { oldestMs }]) => oldestMs)),
    byKind: Object.fromEntries(kinds) as WorkToDo['effects']['byKind'],
  };
}

function toMs(us: number | null): number {
  return Math.max(0, Math.floor(Number(us ?? 0) / 1_000));
}
