import { createHash, randomBytes } from 'node:crypto';
import type { NewOrder } from '@lapse/order-repository';
import type { Pool } from 'mysql2/promise';
import { v7 as uuidv7 } from 'uuid';
import { type LapseStores, withLapseStores } from './lapse-stores.ts';
import type { RunStores } from './open-stores.ts';
import type { BenchServices } from './services.ts';

export interface SaleActivity {
  readonly id: number;
  /** Whether sold or not. */
  readonly places: number;
}

/** A sale, and where its stores are: everything a contender needs to know. */
export interface Sale {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string;
  /** Empty where the contender does not use it. */
  readonly amqpUrl: string;
  /** Where the orders of this contender are; empty where they are in MySQL. */
  readonly postgresUrl: string;
  /** Topics and groups of this run alone. */
  readonly topicPrefix: string;
  readonly activities: readonly SaleActivity[];
  /** The first of them; the only one where the scenario is about one. */
  readonly activityId: number;
  /** Places of all activities together, whether sold or not. */
  readonly orders: number;
}

export function idsOf(activities: readonly SaleActivity[]): number[] {
  return activities.map(({ id }) => id);
}

/** What a contender is told of a prepared sale, with topics and groups of its own. */
export function describeSale(
  { mysqlUrl, redisUrl, postgres }: RunStores,
  { rocketmqEndpoints, rocketmqNamesrv }: Pick<BenchServices, 'rocketmqEndpoints' | 'rocketmqNamesrv'>,
  activities: readonly SaleActivity[],
  amqpUrl = '',
): Sale {
  const [first] = activities;
  if (first === undefined) throw new RangeError('a sale has at least one activity');
  return {
    mysqlUrl,
    redisUrl,
    rocketmqEndpoints,
    rocketmqNamesrv,
    topicPrefix: `b-${randomBytes(4).toString('hex')}-`,
    activities,
    activityId: first.id,
    orders: activities.reduce((sum, { places }) => sum + places, 0),
    amqpUrl,
    postgresUrl: postgres?.url ?? '',
  };
}

/** Of orders that are placed over HTTP. */
export interface SaleTimes {
  readonly payWithinMs: number;
  readonly remindAfterMs: number;
}

const ordersPerInsert = 1_000;
/** Until their deadline is set the orders are due in a day. */
export const farMs = 86_400_000;

export interface SalePlan {
  /** Places of all activities together. */
  readonly places: number;
  /** How many of them are sold; all by default. */
  readonly sold?: number;
  /** Among which the places are spread evenly; one by default. */
  readonly activities?: number;
  readonly times?: SaleTimes;
}

/**
 * Put places on sale and sell the first of them, one to a buyer and one activity after the other in turn, the way the
 * producer writes it; then load Redis from MySQL, as after a loss. All contenders begin with the same rows in both
 * stores.
 * @returns the activities. Their orders are due in a day: `setDueTimes` says when.
 */
export async function prepareSale(stores: RunStores, plan: SalePlan): Promise<SaleActivity[]> {
  const { places, sold = places, activities: count = 1 } = plan;
  return await withLapseStores(stores, async (lapse) => {
    const activities: OpenActivity[] = [];
    for (let index = 0; index < count; index += 1) {
      // What does not divide evenly goes to the first.
      activities.push(await openActivity(lapse, Math.ceil((places - index) / count), plan.times));
    }
    for (let at = 0; at < sold; at += ordersPerInsert) {
      const end = Math.min(sold, at + ordersPerInsert);
      await sellTo(lapse, activities, at, end);
    }
    for (const { id } of activities) await lapse.load(id);
    return activities.map(({ id, places }) => ({ id, places }));
  });
}

interface OpenActivity extends SaleActivity {
  readonly generation: number;
}

/** One activity as an operator opens it. */
export async function openActivity(
  { repository }: Pick<LapseStores, 'repository'>,
  places: number,
  times: SaleTimes = { payWithinMs: 900_000, remindAfterMs: 600_000 },
): Promise<OpenActivity> {
  const { id, generation } = await repository.createActivity({
    name: 'Bench',
    capacity: places,
    priceMinor: 8_800,
    currency: 'CNY',
    saleStartsAt: null,
    saleEndsAt: null,
    ...times,
    quantityMax: 1,
    latePaymentPolicy: 'refund',
    paymentGraceMs: 30_000,
  });
  return { id, places, generation };
}

/** Sell to the buyers of these numbers, in one transaction. */
async function sellTo(
  { repository }: LapseStores,
  activities: readonly OpenActivity[],
  from: number,
  to: number,
): Promise<void> {
  const orders: NewOrder[] = [];
  for (let buyer = from; buyer < to; buyer += 1) {
    const activity = activities[buyer % activities.length];
    if (activity) orders.push(newOrder(activity, repository.now()));
  }
  const { results, outbox } = await repository.createOrders(orders);
  const refused = results.find(({ kind }) => kind !== 'created');
  if (refused) throw new Error(`an order was not created: ${refused.kind}`);
  // Whoever needs messages sends them by itself, once the deadline is set.
  const deliverAt = Date.now() + farMs / 2;
  if (outbox) await repository.markOutboxSent([{ id: outbox.id, messageId: 'bench', deliverAt }]);
}

function newOrder({ id: activityId, generation }: OpenActivity, nowMs: number): NewOrder {
  const id = uuidv7();
  return {
    id,
    activityId,
    generation,
    userId: `buyer-${id}`,
    quantity: 1,
    amountMinor: 8_800,
    currency: 'CNY',
    locale: 'en',
    createdAt: new Date(nowMs),
    remindAt: new Date(nowMs + farMs / 2),
    expiresAt: new Date(nowMs + farMs),
    idempotencyKey: `key-${id}`,
    requestHash: createHash('sha256').update(id).digest(),
  };
}

/** From the reminder to the deadline, as in a sale with default times. */
const remindLeadMs = 300_000;

/** One time for all orders of the sale, in ms since 1970 by the database clock, which is that of this machine. */
export async function setDueTimes(
  mysql: Pool,
  { activities }: Pick<Sale, 'activities'>,
  column: 'expires_at' | 'remind_at',
  dueAtMs: number,
): Promise<void> {
  const remindAtMs = column === 'remind_at' ? dueAtMs : dueAtMs - remindLeadMs;
  await mysql.query('UPDATE orders SET remind_at = ?, expires_at = ? WHERE activity_id IN (?)', [
    new Date(remindAtMs),
    new Date(remindAtMs + remindLeadMs),
    idsOf(activities),
  ]);
}
