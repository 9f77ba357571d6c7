import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SimulatorFaults, type SimulatorLedger, simulatorLedger } from '@lapse/contracts';
import { openPaymentProvider, type PaymentProvider } from '@lapse/payments';
import { log } from '@lapse/test-shop';
import { spawnApp } from '@lapse/testing';

const apiKey = 'the-key-of-the-settler-tests';
const webhookSecret = `whsec_${Buffer.from('a-secret-of-the-settler-tests-alone').toString('base64')}`;

export interface RunningSimulator {
  readonly provider: PaymentProvider;
  /** What a settler needs to be set up with it. */
  readonly env: Readonly<Record<string, string>>;
  /** The buyer pays on the provider's page. */
  pay(providerRef: string | null): Promise<unknown>;
  /** A refund that was taken cannot be carried out after all. */
  failRefund(refundRef: string): Promise<unknown>;
  setFaults(faults: Partial<SimulatorFaults>): Promise<unknown>;
  readLedger(): Promise<SimulatorLedger>;
  close(): Promise<void>;
}

/** The real simulator. No webhook address: whatever is paid is known to it alone, as when every event is lost. */
export async function startSimulator(faults: Partial<SimulatorFaults> = {}): Promise<RunningSimulator> {
  const dir = await mkdtemp(join(tmpdir(), 'lapse-settler-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const app = spawnApp(new URL('../../payment-simulator/', import.meta.url), {
    LAPSE_SIM_PORT: String(port),
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_API_KEY: apiKey,
    LAPSE_SIM_FAULTS: JSON.stringify(faults),
  });
  await app.waitForOutput('"payment simulator listens"');
  const provider = await openPaymentProvider(
    { provider: 'simulator', url, apiKey, webhookSecret, timeoutMs: 2_000 },
    log,
  );
  if (!provider) throw new Error('no provider');
  const ask = async (path: string, method = 'GET', body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, headers, ...sent });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  return {
    provider,
    env: {
      LAPSE_PAYMENT_PROVIDER: 'simulator',
      LAPSE_PAYMENT_URL: url,
      LAPSE_PAYMENT_API_KEY: apiKey,
      LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
      LAPSE_PAYMENT_TIMEOUT: '2s',
    },
    pay: (ref) => ask(`/v1/attempts/${ref}/pay`, 'POST', { outcome: 'succeed' }),
    failRefund: (ref) => ask(`/v1/refunds/${ref}/fail`, 'POST'),
    setFaults: (next) => ask('/v1/faults', 'PUT', next),
    readLedger: async () => simulatorLedger.parse(await ask('/v1/ledger')),
    close: async () => {
      app.kill('SIGKILL');
      await app.exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A provider that answers 500 now and then. */
export async function insist<T>(act: () => Promise<T>): Promise<T> {
  for (let time = 1; ; time += 1) {
    try {
      return await act();
    } catch (error) {
      if (time === 20) throw error;
    }
  }
}

/** A port on which nothing listens. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
