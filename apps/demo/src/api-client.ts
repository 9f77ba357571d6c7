import { randomUUID } from 'node:crypto';
import type {
  ActivityView,
  CreateActivityBody,
  OrderView,
  PaymentWebhookBody,
  ProblemView,
} from '@lapse/contracts';
import { SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';

export interface ApiClientConfig {
  readonly apiUrl: string;
  readonly jwtSecret: string;
  readonly jwtAudience: string;
  readonly webhookSecret: string;
}

/** What the API answered: a body of type T, or a problem. */
export type Answer<T> =
  | { readonly ok: true; readonly body: T; readonly replayed: boolean }
  | { readonly ok: false; readonly problem: ProblemView };

export interface ApiClient {
  createActivity(body: Partial<CreateActivityBody>): Promise<ActivityView>;
  createOrder(buyer: BuyerToken, activityId: number, idempotencyKey: string): Promise<Answer<OrderView>>;
  cancelOrder(buyer: BuyerToken, orderId: string): Promise<Answer<OrderView>>;
  /** Send a signed capture, as the payment provider would. Resolves to the outcome the API names. */
  capture(order: OrderView): Promise<string>;
  mintToken(userId: string, locale: string): Promise<BuyerToken>;
}

/** A buyer's signed token, good for an hour. */
export type BuyerToken = string;

/** How often a call that met 503 is sent again, with the same key, before it counts as failed. */
const attemptsMax = 20;
const requestTimeoutMs = 15_000;

/** Speak to the producer over HTTP as buyers, operator and payment provider do. */
export function createApiClient(config: ApiClientConfig): ApiClient {
  const secret = new TextEncoder().encode(config.jwtSecret);
  const webhook = new Webhook(config.webhookSecret);

  function mint(userId: string, claims: Record<string, string>): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(userId)
      .setAudience(config.jwtAudience)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(secret);
  }

  async function call<T>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(`${config.apiUrl}${path}`, {
        method,
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(requestTimeoutMs),
      }).catch((cause: unknown) => {
        if (attempt >= attemptsMax)
          throw new Error(`LAPSE_DEMO_API: ${method} ${path} got no answer`, { cause });
        return undefined;
      });
      const again = response === undefined || response.status === 503;
      if (response !== undefined && (!again || attempt >= attemptsMax)) {
        const json: unknown = await response.json();
        const replayed = response.headers.get('idempotent-replayed') === 'true';
        return response.ok
          ? { ok: true, body: json as T, replayed }
          : { ok: false, problem: json as ProblemView };
      }
      await response?.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
    }
  }

  return {
    mintToken: (userId, locale) => mint(userId, { locale }),
    async createActivity(body) {
      const token = await mint('demo-operator', { scope: 'operator' });
      const answer = await call<ActivityView>(
        'POST',
        '/v1/activities',
        { authorization: `Bearer ${token}` },
        JSON.stringify(body),
      );
      if (!answer.ok)
        throw new Error(`LAPSE_DEMO_ACTIVITY: ${answer.problem.code}: ${answer.problem.detail}`);
      return answer.body;
    },
    createOrder: (buyer, activityId, idempotencyKey) =>
      call(
        'POST',
        `/v1/activities/${activityId}/orders`,
        { authorization: `Bearer ${buyer}`, 'idempotency-key': idempotencyKey },
        '{}',
      ),
    cancelOrder: (buyer, orderId) =>
      call('POST', `/v1/orders/${orderId}/cancel`, { authorization: `Bearer ${buyer}` }),
    async capture(order) {
      const body = JSON.stringify({
        type: 'payment.captured',
        timestamp: new Date().toISOString(),
        data: {
          paymentId: `pay_${randomUUID()}`,
          orderId: order.id,
          amountMinor: order.amountMinor,
          currency: order.currency,
        },
      } satisfies PaymentWebhookBody);
      const id = `msg_${randomUUID()}`;
      const signedAt = new Date();
      const answer = await call<{ outcome: string }>(
        'POST',
        '/v1/payments/webhook',
        {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
          'webhook-signature': webhook.sign(id, signedAt, body),
        },
        body,
      );
      return answer.ok ? answer.body.outcome : answer.problem.code;
    },
  };
}
