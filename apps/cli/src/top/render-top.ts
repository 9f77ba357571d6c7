import { durationInWords } from '@lapse/operations';
import type { TopView } from '../shapes/top.ts';
import { table } from '../table.ts';
import type { Words } from '../words.ts';

/** One picture of what is going on. Pure. */
export function renderTop(view: TopView, { time, zone }: Words): string {
  const { orders, pending, overdue, due, outbox, effects, parked, notices, shopEvents, money } = view;
  const age = (ms: number): string => (ms === 0 ? '' : `, oldest ${durationInWords(ms)}`);
  const lines = [
    `Lapse  ${time(view.at)} (${zone})`,
    '',
    `orders    pending ${pending} (overdue ${overdue}), paid ${orders.PAID}, closed ${orders.TIMEOUT_CLOSED}, cancelled ${orders.CANCELLED}`,
    `due       ${due.map((each) => `${each.orders} within ${durationInWords(each.withinMs)}`).join(', ')}`,
    `outbox    ${outbox.rows} unsent${age(outbox.oldestMs)}`,
    `effects   ${effects.rows} for Redis, buyers and the shop${age(effects.oldestMs)}`,
    `notices   ${notices.failing} failing, ${notices.givenUp} given up`,
    `shop      ${shopEvents.waiting} waiting, ${shopEvents.givenUp} given up`,
    `money     ${money.refundsWaiting} refunds waiting${age(money.oldestRefundMs)}, ${money.refundsFailed} failed, ${money.quarantined} quarantined, ${money.attemptsDue} attempts to settle`,
    `parked    ${parked.orders} orders, ${parked.messages} messages, ${parked.deadLetters} dead letters`,
    '',
    workersOf(view),
    '',
    activitiesOf(view),
  ];
  return lines.join('\n');
}

function workersOf({ workers }: TopView): string {
  if (workers.length === 0) return 'no process is alive';
  const rows = workers.map(({ kind, host, pid, state, wanted, figures }) => [
    ...[kind, `${host}:${pid}`, state === 'RUNNING' && wanted === 'PAUSE' ? 'RUNNING, to pause' : state],
    ...[figures.inHand ?? null, figures.waiting ?? null, figures.latenessP99Ms ?? null],
    figures.loopBusyPercent ?? null,
  ]);
  return table(['process', 'where', 'state', 'in hand', 'waiting', 'late p99 ms', 'busy %'], rows);
}

function activitiesOf({ activities }: TopView): string {
  if (activities.length === 0) return 'no activity sells or may owe anything';
  const rows = activities.map(({ id, name, capacity, freeInMysql, freeInRedis, users, paused }) => [
    ...[id, name, capacity, freeInMysql, freeInRedis, users],
    [
      paused ? 'paused' : '',
      freeInRedis === null ? 'not in Redis' : '',
      freeInRedis !== null && freeInRedis !== freeInMysql ? 'differs' : '',
    ]
      .filter((word) => word !== '')
      .join(', '),
  ]);
  return table(['activity', 'name', 'places', 'free MySQL', 'free Redis', 'buyers', ''], rows);
}
