import { randomUUID } from 'node:crypto';
import type { OrderView, SimulatorAttempt, SimulatorAttemptBody, SimulatorPayBody } from '@lapse/contracts';
import { sendRequest } from './send-request.ts';

export interface ProviderClientConfig {
  /** Where the payment simulator listens, and the key that its API asks for. */
  readonly providerUrl: string;
  readonly providerKey: string;
}

/** The payment simulator, as buyers and a shop with a checkout of its own meet it. */
export interface ProviderClient {
  /** Pay on a page that Lapse named. A page that was paid on shows the same again. */
  payOnPage(payUrl: string): Promise<void>;
  /**
   * Open a payment that Lapse is not told of, as a shop's own checkout does: Lapse hears of it when the money is
   * taken, by the provider's event, and so it may be too late. @returns what `payOpened` takes.
   */
  openPayment(order: Pick<OrderView, 'id' | 'amountMinor' | 'currency'>): Promise<string>;
  payOpened(providerRef: string): Promise<void>;
}

/** The money moves at the provider, so that what comes too late is money it can send back. */
export function createProviderClient({ providerUrl, providerKey }: ProviderClientConfig): ProviderClient {
  async function call<T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
    const response = await sendRequest(`${providerUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${providerKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (response.ok) return (await response.json()) as T;
    throw new Error(`LAPSE_SALE_PROVIDER: POST ${path} answered ${response.status} ${await response.text()}`);
  }

  return {
    async payOnPage(payUrl) {
      const response = await sendRequest(payUrl, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'outcome=succeed',
      });
      await response.body?.cancel();
      if (response.status !== 303) {
        throw new Error(`LAPSE_SALE_PROVIDER: the payment page answered ${response.status}`);
      }
    },
    async openPayment({ id, amountMinor, currency }) {
      const attemptId = randomUUID();
      const body: SimulatorAttemptBody = { attemptId, orderId: id, amountMinor, currency };
      const opened = await call<SimulatorAttempt>('/v1/attempts', body, { 'idempotency-key': attemptId });
      return opened.providerRef;
    },
    async payOpened(providerRef) {
      const body: SimulatorPayBody = { outcome: 'succeed' };
      await call(`/v1/attempts/${encodeURIComponent(providerRef)}/pay`, body);
    },
  };
}
