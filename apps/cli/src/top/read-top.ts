import { toWorkerView } from '@lapse/operations';
import type { Activity, OrderCounts, OrderRepository } from '@lapse/order-repository';
import type { Stock } from '@lapse/stock';
import type { TopView } from '../shapes/top.ts';

export interface TopPorts {
  readonly orders: Pick<
    OrderRepository,
    'countOrders' | 'listActivities' | 'listWorkers' | 'now' | 'readOverview' | 'readPaymentBacklog'
  >;
  readonly stock: Pick<Stock, 'peek'>;
}

/** Most activities shown: the newest of those that still sell or may owe something. */
const activitiesMax = 20;
const activitiesPerPage = 500;
/** The count of all orders reads a whole index, so it is of some seconds ago. */
const countEveryMs = 10_000;

/** Reads what `lapse top` shows, for one look a second. */
export function openTop({ orders, stock }: TopPorts): () => Promise<TopView> {
  let counts: OrderCounts | undefined;
  let countedAt = 0;
  return async () => {
    if (counts === undefined || performance.now() - countedAt >= countEveryMs) {
      counts = await orders.countOrders();
      countedAt = performance.now();
    }
    const overview = await orders.readOverview();
    const { oldestAttemptMs: _unused, ...money } = await orders.readPaymentBacklog();
    const workers = (await orders.listWorkers()).map(toWorkerView).filter(({ alive }) => alive);
    const activities = await newestLive(orders);
    return {
      at: new Date(orders.now()).toISOString(),
      orders: { ...counts, PENDING: overview.pending },
      ...overview,
      due: [...overview.due],
      money,
      workers,
      activities: await Promise.all(activities.map((activity) => withRedis(stock, activity))),
    };
  };
}

async function newestLive(orders: TopPorts['orders']): Promise<readonly Activity[]> {
  let newest: readonly Activity[] = [];
  for (let afterId = 0; ; ) {
    const page = await orders.listActivities({ afterId, limit: activitiesPerPage, only: 'live' });
    newest = [...newest, ...page].slice(-activitiesMax);
    if (page.length < activitiesPerPage) return newest.toReversed();
    afterId = page.at(-1)?.id ?? afterId;
  }
}

/** Redis away, or the activity not loaded: its numbers are null, and all else is shown. */
async function withRedis(
  stock: TopPorts['stock'],
  { id, name, capacity, available, salePausedAt }: Activity,
): Promise<TopView['activities'][number]> {
  const peek = await stock.peek(id).catch(() => null);
  const redis = { freeInRedis: peek?.free ?? null, users: peek?.users ?? null };
  return { id, name, capacity, freeInMysql: available, ...redis, paused: salePausedAt !== null };
}
