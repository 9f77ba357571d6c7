import type { CreateOrderBody } from '@lapse/contracts';
import { firstAnswer, type Problem } from '@lapse/operations';
import {
  type Activity,
  CommitUnknownError,
  type CreateResult,
  type NewOrder,
  newOrderId,
} from '@lapse/order-repository';
import { QueueFullError } from '@lapse/runtime';
import { HoldDiffersError } from '@lapse/stock';
import type { BuyerLocale } from './buyer-locale.ts';
import type { CreateAnswer } from './create-answer.ts';
import type { CreatePorts } from './create-ports.ts';
import { answerFromEarlier, findEarlierAnswer, findHolder } from './earlier-order.ts';
import { ordersCreated } from './metrics.ts';
import { requestHash } from './request-hash.ts';
import { WaitedTooLongError, type WriteResult } from './write-batch.ts';

export interface CreateRequest {
  readonly activityId: number;
  readonly userId: string;
  readonly locale: BuyerLocale;
  readonly idempotencyKey: string;
  readonly body: CreateOrderBody;
}

/**
 * How long a request waits for another request of the same buyer that holds a place and is being written,
 * maybe in another process. A write takes milliseconds; this covers a slow commit.
 */
const holderWaitMsMax = 1_500;

/**
 * Sell places to one buyer: reserve in Redis, then write with whatever other orders are waiting, in one
 * transaction. Redis refuses quickly, MySQL decides: its conditional decrement is what never oversells.
 *
 * Concurrency: any number of processes may run this for one buyer, activity and key. One order comes of it;
 * the others answer with that order. Idempotency: the key is unique per buyer in MySQL for as long as the
 * order exists, so a repeat gets the first answer even when the order is closed by now. A buyer who never had an
 * order in the activity is told that it is sold out without a look at their keys: one that was used in another
 * activity is told so when there are places (infra/decisions/0009).
 *
 * A hold never outlives a refusal: it is released here, or by the releaser in the background. The exception
 * is a commit whose result is unknown: then the hold is kept, because the order may exist.
 * @throws the store's error when a store is away, after the hold is released; nothing is half done then.
 */
export async function createOrder(ports: CreatePorts, request: CreateRequest): Promise<CreateAnswer> {
  const activity = await ports.activities.read(request.activityId);
  if (!activity) return refused({ code: 'ACTIVITY_NOT_FOUND' });
  const nowMs = ports.orders.now();
  const id = newOrderId();
  const problem = saleProblem(activity, nowMs, request.body.quantity);
  // A repeat that comes after the sale has ended, or while it is paused, still gets its first answer. Long after it has
  // ended, when it is archived, no key is kept any more.
  if (problem?.code === 'NOT_ON_SALE' || problem?.code === 'SALE_PAUSED') {
    return (await findEarlierAnswer(ports, newOrder(activity, request, id, nowMs))) ?? refused(problem);
  }
  if (problem) return refused(problem);

  const giveUpAt = performance.now() + holderWaitMsMax;
  for (let attempt = 0; ; attempt += 1) {
    const held = await reserve(ports, activity, request, id);
    // What most people of a rush are told: one call of Redis and no query, and nothing made for an order.
    if (held === 'sold_out_newcomer') return refused({ code: 'SOLD_OUT' });
    const order = newOrder(activity, request, id, nowMs);
    switch (held) {
      case 'reserved':
        return ports.inFlight.track(order, writeOrder(ports, order));
      case 'sold_out':
        return (await findEarlierAnswer(ports, order)) ?? refused({ code: 'SOLD_OUT' });
      case 'not_ready':
        ports.activities.forget(activity.id);
        return refused({ code: 'STOCK_NOT_READY' });
      case 'released':
        return refused({ code: 'UNAVAILABLE' });
      case 'user_holds': {
        const answer = await findHolder(ports, order);
        if (answer) return answer;
        // The holder is being written, or its release is still on its way: look again, and try again.
        if (performance.now() >= giveUpAt) return refused({ code: 'UNAVAILABLE' });
        await ports.inFlight.wait(order, attempt, giveUpAt - performance.now());
      }
    }
  }
}

function newOrder(activity: Activity, request: CreateRequest, id: string, nowMs: number): NewOrder {
  const { quantity } = request.body;
  return {
    id,
    activityId: activity.id,
    generation: activity.generation,
    userId: request.userId,
    quantity,
    amountMinor: activity.priceMinor * quantity,
    currency: activity.currency,
    locale: request.locale,
    createdAt: new Date(nowMs),
    remindAt: new Date(nowMs + activity.remindAfterMs),
    expiresAt: new Date(nowMs + activity.payWithinMs),
    idempotencyKey: request.idempotencyKey,
    requestHash: requestHash(activity.id, request.body),
  };
}

function saleProblem(activity: Activity, nowMs: number, quantity: number): Problem | undefined {
  const { saleStartsAt, saleEndsAt, salePausedAt, archivedAt, quantityMax } = activity;
  if (archivedAt) return { code: 'ACTIVITY_ARCHIVED', archivedAt: archivedAt.toISOString() };
  if ((saleStartsAt && nowMs < saleStartsAt.getTime()) || (saleEndsAt && nowMs >= saleEndsAt.getTime())) {
    return {
      code: 'NOT_ON_SALE',
      saleStartsAt: saleStartsAt?.toISOString() ?? null,
      saleEndsAt: saleEndsAt?.toISOString() ?? null,
    };
  }
  if (salePausedAt) return { code: 'SALE_PAUSED', salePausedAt: salePausedAt.toISOString() };
  if (quantity > quantityMax) {
    const message = `must be at most ${quantityMax}, the limit of this activity`;
    return { code: 'INVALID_REQUEST', errors: [{ field: 'body.quantity', message }] };
  }
  return undefined;
}

/**
 * The activity may be a second old here, and its run id with it. Redis restarted since: the connection's run id is
 * another one, and the reserve is refused. Redis loaded since, too: the old run id is refused once, then read anew.
 * Still connected to a server that was replaced meanwhile: it takes the hold, but MySQL's generation has moved on,
 * and its decrement refuses the order. A stale pair can cost a repeat, never a place.
 */
async function reserve(
  ports: CreatePorts,
  { id: activityId, generation, stockRunId }: Activity,
  { userId, body: { quantity } }: CreateRequest,
  orderId: string,
) {
  try {
    return (await ports.stock.reserve({ activityId, generation, stockRunId, orderId, userId, quantity }))
      .kind;
  } catch (error) {
    // No answer is not a refusal: the hold may have been taken. Releasing it also fences a late reserve. But not the hold
    // that another buyer has by this id.
    if (!(error instanceof HoldDiffersError)) await ports.holds.release({ activityId, orderId });
    throw error;
  }
}

/** Write an order whose hold is taken, with the batch that gathers now, and settle the hold. */
async function writeOrder(ports: CreatePorts, order: NewOrder): Promise<CreateAnswer> {
  const result = await submit(ports, order);
  if (result.kind === 'failed') {
    const { error } = result;
    // Maybe it was committed: then the hold is the order's. If not, an auditor must find it.
    if (error instanceof CommitUnknownError) throw error;
    await ports.holds.release({ activityId: order.activityId, orderId: order.id });
    if (error instanceof QueueFullError || error instanceof WaitedTooLongError) {
      return refused({ code: 'OVERLOADED' });
    }
    throw error;
  }
  if (result.kind === 'created') {
    ordersCreated.inc();
    return { kind: 'created', order: firstAnswer(order) };
  }
  // A retried transaction may meet its own order: then the hold is that order's.
  const isOwn = 'order' in result && result.order.id === order.id;
  if (!isOwn) await ports.holds.release({ activityId: order.activityId, orderId: order.id });
  return answerUnwritten(ports, order, result);
}

async function submit(ports: CreatePorts, order: NewOrder): Promise<WriteResult> {
  try {
    return await ports.inserts.submit(order);
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function answerUnwritten(
  ports: CreatePorts,
  order: NewOrder,
  result: Exclude<CreateResult, { kind: 'created' }>,
): CreateAnswer {
  switch (result.kind) {
    case 'sold_out':
      return refused({ code: 'SOLD_OUT' });
    case 'stale_generation':
      ports.activities.forget(order.activityId);
      return refused({ code: 'STOCK_NOT_READY' });
    case 'activity_locked':
      return refused({ code: 'UNAVAILABLE' });
    case 'same_key':
    case 'already_holding':
      return answerFromEarlier(result.order, order);
  }
}

function refused(problem: Problem): CreateAnswer {
  return { kind: 'refused', problem };
}
