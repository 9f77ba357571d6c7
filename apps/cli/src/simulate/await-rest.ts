import type { Order, OrderRepository } from '@lapse/order-repository';
import { sleep } from '@lapse/runtime';
import { lookAtStock } from '@lapse/stock-audit';
import type { Context } from '../context.ts';

const lookEveryMs = 1_000;
/** After the last deadline: a sweep with its grace, twice. */
const restWithinMs = 60_000;
const ordersPerPage = 200;

/** A sale in which nothing is open any more, or the last look at it when its time was over. */
export interface Rested {
  readonly orders: readonly Order[];
  /** Every order has ended, and MySQL and Redis say the same of each. */
  readonly agrees: boolean;
}

/** Wait until every order of an activity has ended and Redis has followed, up to a minute after the last deadline. */
export async function awaitRest(context: Context, activityId: number, lastDeadline: number): Promise<Rested> {
  const ports = { orders: await context.orders(), stock: await context.stock() };
  const { signal } = context.io;
  for (;;) {
    const orders = await listOrders(ports.orders, activityId);
    const open = orders.filter(({ status }) => status === 'PENDING').length;
    const look = await lookAtStock(ports, activityId, { youngMs: 0, everyOrder: true });
    const agrees = open === 0 && look.kind === 'clean';
    const isOver = ports.orders.now() > lastDeadline + restWithinMs;
    if (agrees || isOver || signal.aborted) return { orders, agrees };
    const text = `${open} orders are open; waiting for their deadlines …`;
    context.progress(text, orders.length === 0 ? 0 : 1 - open / orders.length);
    await sleep(lookEveryMs, signal);
  }
}

async function listOrders(orders: OrderRepository, activityId: number): Promise<Order[]> {
  const found: Order[] = [];
  for (;;) {
    const beforeId = found.at(-1)?.id;
    const page = await orders.findOrders({
      filter: { by: 'activity', activityId },
      limit: ordersPerPage,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    found.push(...page);
    if (page.length < ordersPerPage) return found;
  }
}
