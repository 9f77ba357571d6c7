import { randomUUID } from 'node:crypto';
import type { ActivityView, CreateActivityBody, OrderView, PaymentWebhookBody } from '@lapse/contracts';
import { type DemoSecrets, mintToken } from '@lapse/stack';
import { Webhook } from 'standardwebhooks';
import type { Ledger } from './ledger.ts';

/** What one request came to. `none`: no answer, or one that says "send it again". */
export type Answer =
  | { readonly kind: 'ok'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'none' };

export interface ApiClient {
  createActivity(body: Partial<CreateActivityBody>): Promise<ActivityView>;
  createOrder(buyer: string, activityId: number, quantity: number, key: string): Promise<Answer>;
  /** Begin to pay at the provider. */
  payOrder(buyer: string, orderId: string): Promise<Answer>;
  /** What a buyer does on the provider's page. */
  payAtProvider(payUrl: string): Promise<Answer>;
  cancelOrder(buyer: string, orderId: string): Promise<Answer>;
  changeCapacity(activityId: number, capacity: number, key: string): Promise<Answer>;
  extendOrder(orderId: string, byMs: number, key: string): Promise<Answer>;
  /** One delivery of an event; the same `eventId` again is the same event. */
  sendEvent(eventId: string, body: PaymentWebhookBody): Promise<Answer>;
  mintToken(user: string): Promise<string>;
}

export interface ApiAddresses {
  readonly apiUrls: readonly string[];
  readonly providerUrl: string;
  readonly secrets: DemoSecrets;
}

/** Longer than most freezes would be patient; shorter than a buyer. */
const requestTimeoutMs = 4_000;

/** The request arrived too late; too many came; a store is away. */
const sendAgain = [408, 429, 503];

/** Speaks to any of the producers, a different one at each try, and writes down what must never come. */
export function createApiClient({ apiUrls, providerUrl, secrets }: ApiAddresses, ledger: Ledger): ApiClient {
  const webhook = new Webhook(secrets.webhookSecret);
  let turn = 0;

  async function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Answer> {
    turn += 1;
    return await sendTo(`${apiUrls[turn % apiUrls.length]}${path}`, method, headers, body);
  }

  async function sendTo(
    url: string,
    method: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Answer> {
    const request = {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    };
    try {
      const response = await fetch(url, request);
      const answer = (await response.json()) as Record<string, unknown>;
      ledger.statuses.set(response.status, (ledger.statuses.get(response.status) ?? 0) + 1);
      if (response.ok) return { kind: 'ok', body: answer };
      if (sendAgain.includes(response.status)) return { kind: 'none' };
      const code = String(answer.code);
      if (response.status === 500 || response.status === 401 || response.status === 400) {
        ledger.unexpected.push(
          `${method} ${new URL(url).pathname}: ${response.status} ${code}: ${String(answer.detail)}`,
        );
        return { kind: 'none' };
      }
      return { kind: 'refused', code };
    } catch {
      ledger.statuses.set(0, (ledger.statuses.get(0) ?? 0) + 1);
      return { kind: 'none' };
    }
  }

  async function sendAsOperator(method: string, path: string, key: string, body: object): Promise<Answer> {
    const token = await mintToken(secrets.jwtSecret, { sub: 'chaos', scope: 'operator' });
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': key };
    return await send(method, path, headers, JSON.stringify(body));
  }

  return {
    mintToken: (user) => mintToken(secrets.jwtSecret, { sub: user }),
    async createActivity(body) {
      const answer = await sendAsOperator('POST', '/v1/activities', newEventId(), body);
      if (answer.kind !== 'ok')
        throw new Error(`LAPSE_CHAOS_ACTIVITY: no activity: ${JSON.stringify(answer)}`);
      return answer.body as ActivityView;
    },
    changeCapacity: (activityId, capacity, key) =>
      sendAsOperator('PATCH', `/v1/activities/${activityId}`, key, { capacity, reason: 'chaos' }),
    extendOrder: (orderId, byMs, key) =>
      sendAsOperator('POST', `/v1/orders/${orderId}/extend`, key, { byMs, reason: 'chaos' }),
    createOrder: (buyer, activityId, quantity, key) =>
      send(
        'POST',
        `/v1/activities/${activityId}/orders`,
        { authorization: `Bearer ${buyer}`, 'idempotency-key': key },
        JSON.stringify({ quantity }),
      ),
    payOrder: (buyer, orderId) =>
      send('POST', `/v1/orders/${orderId}/payments`, { authorization: `Bearer ${buyer}` }),
    payAtProvider: (payUrl) =>
      sendTo(
        `${providerUrl}/v1/attempts/${payUrl.split('/').at(-1)}/pay`,
        'POST',
        { authorization: `Bearer ${secrets.simulatorKey}` },
        JSON.stringify({ outcome: 'succeed' }),
      ),
    cancelOrder: (buyer, orderId) =>
      send('POST', `/v1/orders/${orderId}/cancel`, { authorization: `Bearer ${buyer}` }),
    sendEvent(eventId, event) {
      const body = JSON.stringify(event);
      const now = new Date();
      return send(
        'POST',
        '/v1/payments/webhook',
        {
          'webhook-id': eventId,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
          'webhook-signature': webhook.sign(eventId, now, body),
        },
        body,
      );
    },
  };
}

export function orderOf(answer: Answer): OrderView | undefined {
  return answer.kind === 'ok' ? (answer.body as OrderView) : undefined;
}

export function newEventId(): string {
  return `evt_${randomUUID()}`;
}
