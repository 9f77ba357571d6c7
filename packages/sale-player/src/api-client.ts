import type {
  ActivityView,
  CreateActivityBody,
  OrderPaymentView,
  OrderView,
  ProblemView,
} from '@lapse/contracts';
import { SignJWT } from 'jose';
import { sendRequest } from './send-request.ts';

export interface ApiClientConfig {
  readonly apiUrl: string;
  readonly jwtSecret: string;
  readonly jwtAudience: string;
}

/** What the API answered: a body of type T, or a problem. */
export type Answer<T> =
  | { readonly ok: true; readonly body: T; readonly replayed: boolean }
  | { readonly ok: false; readonly problem: ProblemView };

export interface ApiClient {
  createActivity(body: Partial<CreateActivityBody>): Promise<ActivityView>;
  createOrder(buyer: BuyerToken, activityId: number, idempotencyKey: string): Promise<Answer<OrderView>>;
  cancelOrder(buyer: BuyerToken, orderId: string): Promise<Answer<OrderView>>;
  /** Begin to pay: the answer names the provider's page. */
  payOrder(buyer: BuyerToken, orderId: string): Promise<Answer<OrderPaymentView>>;
  readOrder(buyer: BuyerToken, orderId: string): Promise<Answer<OrderView>>;
  mintToken(userId: string, locale: string): Promise<BuyerToken>;
}

/** A buyer's signed token, good for an hour. */
export type BuyerToken = string;

/** Speak to the producer over HTTP as buyers and an operator do. */
export function createApiClient(config: ApiClientConfig): ApiClient {
  const secret = new TextEncoder().encode(config.jwtSecret);

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
    const response = await sendRequest(`${config.apiUrl}${path}`, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const json: unknown = await response.json();
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return response.ok
      ? { ok: true, body: json as T, replayed }
      : { ok: false, problem: json as ProblemView };
  }

  return {
    mintToken: (userId, locale) => mint(userId, { locale }),
    async createActivity(body) {
      const token = await mint('sale-player', { scope: 'operator' });
      const answer = await call<ActivityView>(
        'POST',
        '/v1/activities',
        { authorization: `Bearer ${token}` },
        JSON.stringify(body),
      );
      if (!answer.ok)
        throw new Error(`LAPSE_SALE_ACTIVITY: ${answer.problem.code}: ${answer.problem.detail}`);
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
    payOrder: (buyer, orderId) =>
      call('POST', `/v1/orders/${orderId}/payments`, { authorization: `Bearer ${buyer}` }),
    readOrder: (buyer, orderId) => call('GET', `/v1/orders/${orderId}`, { authorization: `Bearer ${buyer}` }),
  };
}
