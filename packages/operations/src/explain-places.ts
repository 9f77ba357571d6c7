import type { OrderStatus } from '@lapse/contracts';
import type { HoldLook } from '@lapse/stock';
import type { Answer, ExplainedOrder } from './explanation.ts';

/** Where the order's places are: in both stores, and what Redis has still to be told. */
export function explainPlaces({ timeline, hold }: ExplainedOrder): Answer {
  const { order, transitions, pendingEffects, saleArchivedAt } = timeline;
  const places = order.quantity === 1 ? '1 place' : `${order.quantity} places`;
  const returned = transitions.reduce((sum, { credit, debit }) => sum + credit - debit, 0);
  const owed = pendingEffects.filter(({ kind }) => kind in owedWords);
  const says = [
    whereInMysql(order.status, places, returned),
    ...owed.map(
      ({ id, kind, attempts }) =>
        `${owedWords[kind as keyof typeof owedWords]} (effect ${id}, ${attempts} tries): the sweeper does it.`,
    ),
  ];
  if (hold === null) return { says: [...says, 'Redis did not answer, so what it holds is not known.'] };
  const seen = seenInRedis(hold);
  if (owed.length > 0) return { says: [...says, `${seen}, until then.`] };
  // No audit looks there any more: what is left in Redis goes whole.
  if (saleArchivedAt !== null)
    return { says: [...says, `${seen}: its sale is archived, and Redis forgets it.`] };
  if (wanted[order.status].includes(stateOf(hold))) return { says: [...says, `${seen}, as it should be.`] };
  return {
    says: [...says, `${seen}, which does not fit: it has drifted from MySQL.`],
    todo: [
      `The auditor heals it within minutes; at once: lapse audit --activity ${order.activityId} --heal --reason TEXT --apply`,
    ],
  };
}

const owedWords = {
  release: 'Redis has still to be told that the places are free',
  confirm: 'Redis has still to be told that the places are sold',
  reacquire: 'Redis has still to be told that the places are taken again',
} as const;

function whereInMysql(status: OrderStatus, places: string, returned: number): string {
  if (status === 'ABORTED') return `MySQL never took ${places} for it.`;
  if (status === 'PENDING') return `It holds ${places} in MySQL.`;
  if (status === 'PAID') return `${places} are its own: sold.`.replace(/^1 place are/, '1 place is');
  return returned > 0
    ? `${places} went back on sale in MySQL when it ended, once.`
    : `${places} did NOT go back in MySQL: that is a fault.`;
}

type HoldState = 'held' | 'sold' | 'released' | 'none' | 'unreadable';

/** A marker of a released order is forgotten after an hour. */
const wanted: Readonly<Record<OrderStatus, readonly HoldState[]>> = {
  PENDING: ['held'],
  PAID: ['sold'],
  TIMEOUT_CLOSED: ['released', 'none'],
  CANCELLED: ['released', 'none'],
  ABORTED: ['released', 'none'],
};

function stateOf(look: HoldLook): HoldState {
  return look.kind === 'hold' ? look.hold.state : look.kind;
}

function seenInRedis(look: HoldLook): string {
  if (look.kind === 'none') return 'Redis holds nothing for it';
  if (look.kind === 'unreadable') return `Redis has a hold for it that nobody can read (${look.text})`;
  const { state, quantity } = look.hold;
  return `Redis has it as ${state}, ${quantity} ${quantity === 1 ? 'place' : 'places'}`;
}
