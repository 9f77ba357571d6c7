import { randomUUID } from 'node:crypto';
import { queryDatabase, waitUntil } from '@lapse/testing';
import { orderOf } from '../api-client.ts';
import type { ProviderLedger } from '../judge-provider.ts';
import { readProvider } from '../read-provider.ts';
import type { DrillParts } from './drill.ts';

const withinMs = 60_000;
const timeoutMs = 10_000;

export interface OrderBeingPaid {
  /** Its buyer pays, and the money goes back at the provider, by somebody's hand. */
  payAndRefund(): Promise<void>;
  /** Once the settler has asked the provider for it, say what it made of the answer. */
  sayWhatBecame(): Promise<void>;
}

/** An order whose payment has begun: a backup of now has it so, whatever becomes of its money. */
export async function beginToPay({
  world,
  api,
  ledger,
  activityId,
  say,
}: DrillParts): Promise<OrderBeingPaid> {
  const user = 'buyer who is refunded';
  const key = randomUUID();
  const token = await api.mintToken(user);
  const order = orderOf(await api.createOrder(token, activityId, 1, key));
  const begun = order && (await api.payOrder(token, order.id));
  if (!order || begun?.kind !== 'ok') {
    throw new Error('LAPSE_DRILL_PAYMENT: no payment could be begun before the backup.');
  }
  const orders = new Map([[order.id, order]]);
  ledger.purchases.push({ user, activityId, quantity: 1, key, orders, refused: undefined });
  const { payUrl } = begun.body as { payUrl: string };
  return {
    payAndRefund: async () => {
      await api.payAtProvider(payUrl);
      const capture = await waitUntil(
        async () => {
          const { captures } = await readProvider(world.providerUrl, world.secrets.simulatorKey);
          return captures.find(({ orderId }) => orderId === order.id);
        },
        { what: 'the provider to have the money', timeoutMs: withinMs },
      );
      if (capture) await refund(world.providerUrl, world.secrets.simulatorKey, capture);
      say(
        'an order that was being paid at the time of the backup is paid, and refunded at the provider by hand',
      );
    },
    sayWhatBecame: async () => {
      const id = Buffer.from(order.id.replaceAll('-', ''), 'hex');
      const found = `SELECT o.status, p.state FROM orders o JOIN payment p ON p.order_id = o.id
        WHERE o.id = ? AND o.status <> 'PENDING'`;
      const row = await waitUntil(
        async () => (await queryDatabase(world.services.mysqlUrl, found, [id]))[0],
        {
          ...{ what: 'the order to end whose money went back', timeoutMs: withinMs },
        },
      );
      say(`that order is ${row?.status} after the restore, and its payment ${row?.state}`);
    },
  };
}

async function refund(
  providerUrl: string,
  apiKey: string,
  { paymentId, amountMinor, currency }: ProviderLedger['captures'][number],
): Promise<void> {
  const response = await fetch(`${providerUrl}/v1/refunds`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ paymentId, amountMinor, currency }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`LAPSE_DRILL_REFUND: the provider answered ${response.status}.`);
}
