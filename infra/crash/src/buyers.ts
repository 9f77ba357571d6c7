import { randomUUID } from 'node:crypto';
import type { ActivityView, OrderView } from '@lapse/contracts';
import { SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import type { CrashWorld } from './crash-world.ts';

/** A call is repeated until it is answered for good: while its process is down, that takes some seconds. */
const callBudgetMs = 45_000;
const repeatEveryMs = 100;
const requestTimeoutMs = 5_000;

interface Call {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Send until there is an answer that is neither 503 nor a broken connection. The same bytes each time. */
async function send(world: CrashWorld, { method, path, headers, body }: Call): Promise<Response> {
  const endsAtMs = performance.now() + callBudgetMs;
  for (;;) {
    try {
      const response = await fetch(`${world.apiUrl}${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(requestTimeoutMs),
      });
      if (response.status !== 503) return response;
      await response.body?.cancel();
    } catch (error) {
      if (performance.now() >= endsAtMs) throw error;
    }
    if (performance.now() >= endsAtMs) throw new Error(`${method} ${path}: no answer but 503`);
    await new Promise((resolve) => setTimeout(resolve, repeatEveryMs));
  }
}

function token(world: CrashWorld, sub: string, claims: Record<string, string> = {}): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setAudience('lapse')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(world.jwtSecret));
}

async function expectStatus(response: Response, status: number): Promise<unknown> {
  const body: unknown = await response.json();
  if (response.status !== status) {
    throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(body)}`);
  }
  return body;
}

export async function openActivity(
  world: CrashWorld,
  capacity: number,
  payWithinMs: number,
): Promise<ActivityView> {
  const operator = await token(world, 'operator', { scope: 'operator' });
  const response = await send(world, {
    method: 'POST',
    path: '/v1/activities',
    headers: { authorization: `Bearer ${operator}`, 'idempotency-key': randomUUID() },
    body: JSON.stringify({
      name: 'Crash',
      capacity,
      priceMinor: 100,
      currency: 'CNY',
      payWithinMs,
      remindAfterMs: Math.ceil(payWithinMs / 2),
      latePaymentPolicy: 'reacquire',
      paymentGraceMs: 10_000,
    }),
  });
  return (await expectStatus(response, 201)) as ActivityView;
}

export async function buy(world: CrashWorld, activityId: number, buyer: string): Promise<OrderView> {
  const response = await send(world, {
    method: 'POST',
    path: `/v1/activities/${activityId}/orders`,
    headers: { authorization: `Bearer ${await token(world, buyer)}`, 'idempotency-key': `key-${buyer}` },
    body: '{}',
  });
  return (await expectStatus(response, 201)) as OrderView;
}

/** Cancel; an order that ended meanwhile is a fair answer too. */
export async function cancel(world: CrashWorld, order: OrderView, buyer: string): Promise<void> {
  const response = await send(world, {
    method: 'POST',
    path: `/v1/orders/${order.id}/cancel`,
    headers: { authorization: `Bearer ${await token(world, buyer)}` },
  });
  if (response.status !== 409) await expectStatus(response, 200);
}

/** Begin to pay, and go no further: at the deadline somebody has to ask the provider. */
export async function beginPayment(world: CrashWorld, order: OrderView, buyer: string): Promise<void> {
  const response = await send(world, {
    method: 'POST',
    path: `/v1/orders/${order.id}/payments`,
    headers: { authorization: `Bearer ${await token(world, buyer)}` },
  });
  // The order's deadline may have come while its process was down.
  if (response.status !== 409) await expectStatus(response, 201);
}

/** Money that the provider took for an order behind the shop's back: its event comes when it comes. */
export async function payBehind(
  world: CrashWorld,
  order: Pick<OrderView, 'amountMinor' | 'currency' | 'id'>,
): Promise<void> {
  const attemptId = randomUUID();
  const { amountMinor, currency, id: orderId } = order;
  const terms = { attemptId, orderId, amountMinor, currency };
  const { providerRef } = (await askProvider(world, '/v1/attempts', attemptId, terms)) as {
    providerRef: string;
  };
  await askProvider(world, `/v1/attempts/${providerRef}/pay`, attemptId, { outcome: 'succeed' });
}

/** The provider cannot carry out a refund that it had taken: its event comes when it comes. */
export async function failRefund(world: CrashWorld, refundRef: string): Promise<void> {
  await askProvider(world, `/v1/refunds/${refundRef}/fail`, randomUUID(), {});
}

async function askProvider(world: CrashWorld, path: string, key: string, body: object): Promise<unknown> {
  const response = await fetch(`${world.providerUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.providerKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** The provider's signed event that the order was paid for. */
export async function capture(
  world: CrashWorld,
  order: Pick<OrderView, 'amountMinor' | 'currency' | 'id'>,
): Promise<void> {
  const body = JSON.stringify({
    type: 'payment.captured',
    timestamp: new Date().toISOString(),
    data: {
      paymentId: `pay_${order.id}`,
      orderId: order.id,
      amountMinor: order.amountMinor,
      currency: order.currency,
    },
  });
  const id = `msg_${order.id}`;
  const at = new Date();
  const response = await send(world, {
    method: 'POST',
    path: '/v1/payments/webhook',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(world.webhookSecret).sign(id, at, body),
    },
    body,
  });
  await expectStatus(response, 200);
}

/** The operator adds a place, and moves the deadline of one order. A deadline that came first is a fair answer. */
export async function operate(world: CrashWorld, activityId: number, order: OrderView): Promise<void> {
  const headers = {
    authorization: `Bearer ${await token(world, 'operator', { scope: 'operator' })}`,
    'idempotency-key': `key-${order.id}`,
  };
  const changed = await send(world, {
    method: 'PATCH',
    path: `/v1/activities/${activityId}`,
    headers: { ...headers, 'idempotency-key': `capacity-${order.id}` },
    body: JSON.stringify({ capacity: 31, reason: 'one more chair' }),
  });
  await expectStatus(changed, 200);
  const extended = await send(world, {
    method: 'POST',
    path: `/v1/orders/${order.id}/extend`,
    headers,
    body: JSON.stringify({ byMs: 1_000, reason: 'the buyer asked' }),
  });
  if (extended.status !== 409) await expectStatus(extended, 200);
}

/** The operator cancels a buyer's order. One that ended meanwhile is a fair answer too. */
export async function cancelByOperator(world: CrashWorld, order: OrderView): Promise<void> {
  const response = await send(world, {
    method: 'POST',
    path: `/v1/orders/${order.id}/cancel`,
    headers: {
      authorization: `Bearer ${await token(world, 'operator', { scope: 'operator' })}`,
      'idempotency-key': `cancel-${order.id}`,
    },
    body: JSON.stringify({ reason: 'the show is moved' }),
  });
  if (response.status !== 409) await expectStatus(response, 200);
}

/** The operator settles one row by hand. A repeat of the request, by its key, answers the same. */
export async function settleRow(
  world: CrashWorld,
  path: '/v1/ops/parked/redrive' | '/v1/ops/refunds/pay',
  id: number,
): Promise<void> {
  const response = await send(world, {
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${await token(world, 'operator', { scope: 'operator' })}`,
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ ids: [id], dryRun: false, reason: 'the cause is gone' }),
  });
  const { outcomes } = (await expectStatus(response, 200)) as { outcomes: { changed: boolean }[] };
  if (!outcomes.every(({ changed }) => changed)) {
    throw new Error(`${path} did nothing: ${JSON.stringify(outcomes)}`);
  }
}
