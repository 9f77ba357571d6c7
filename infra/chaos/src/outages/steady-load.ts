import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { OrderView } from '@lapse/contracts';
import { sleep } from '@lapse/runtime';
import { type ApiClient, orderOf } from '../api-client.ts';
import type { Ledger, Purchase } from '../ledger.ts';

export interface SteadyLoad {
  /** When orders were answered with their id, in ms of this machine's clock, in order. */
  readonly createdAt: readonly number[];
  /** Resolves when it was told to close and nobody waits any more. */
  readonly done: Promise<void>;
}

export interface SteadyLoadOptions {
  readonly api: Pick<ApiClient, 'mintToken' | 'createOrder'>;
  readonly ledger: Pick<Ledger, 'purchases'>;
  readonly activityId: number;
  readonly perSecond: number;
  readonly closing: AbortSignal;
  /** What a buyer does next; nothing unless given, so that the order closes unpaid. */
  readonly afterwards?: (order: OrderView, token: string, number: number) => Promise<void>;
}

/** Buyers who wait for an answer at once. While nothing answers no more come, as in front of a door that is shut. */
const waitingMax = 40;
/** A buyer without an answer asks again, with the same key. */
const againMs = 250;

/** Buyers at an even pace, each with one order, until `closing`. */
export function startSteadyLoad(options: SteadyLoadOptions): SteadyLoad {
  const { perSecond, closing } = options;
  const createdAt: number[] = [];
  const waiting = new Set<Promise<void>>();
  // Every buyer that waits listens.
  setMaxListeners(0, closing);
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    for (let number = 1; !closing.aborted; number += 1) {
      if (waiting.size < waitingMax) {
        const buyer = buy(options, number, createdAt).finally(() => waiting.delete(buyer));
        waiting.add(buyer);
      }
      await sleep(startedAt + (number * 1_000) / perSecond - performance.now(), closing);
    }
    await Promise.all(waiting);
  };
  return { createdAt, done: run() };
}

async function buy(
  { api, ledger, activityId, closing, afterwards }: SteadyLoadOptions,
  number: number,
  createdAt: number[],
): Promise<void> {
  const user = `buyer ${number}`;
  const token = await api.mintToken(user);
  const key = randomUUID();
  const purchase: Purchase = { user, activityId, quantity: 1, key, orders: new Map(), refused: undefined };
  ledger.purchases.push(purchase);
  for (let tries = 1; !closing.aborted; tries += 1) {
    const answer = await api.createOrder(token, activityId, 1, key);
    const order = orderOf(answer);
    if (order !== undefined) {
      purchase.orders.set(order.id, order);
      createdAt.push(Date.now());
      await afterwards?.(order, token, number);
      return;
    }
    if (answer.kind === 'refused') {
      if (tries === 1) purchase.refused = answer.code;
      return;
    }
    await sleep(againMs, closing);
  }
}
