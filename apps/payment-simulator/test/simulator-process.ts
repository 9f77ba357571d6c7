import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  SimulatorAttempt,
  SimulatorFaults,
  SimulatorLedger,
  SimulatorPayBody,
  SimulatorRefund,
} from '@lapse/contracts';
import { openPaymentProvider, type PaymentProvider } from '@lapse/payments';
import { createLogger, readConfig } from '@lapse/runtime';
import { type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';

export const apiKey = 'a-key-of-the-tests-alone';
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const log = createLogger('test', 'silent');

export interface Reply<T> {
  readonly status: number;
  readonly body: T;
}

export interface SimulatorProcess {
  readonly app: SpawnedApp;
  readonly url: string;
  readonly opsUrl: string;
  /** The adapter that the shop uses. */
  readonly provider: PaymentProvider;
  call<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply<T>>;
  pay(ref: string, body: SimulatorPayBody): Promise<Reply<SimulatorAttempt>>;
  setFaults(faults: Partial<SimulatorFaults>): Promise<void>;
  stateOf(ref: string): Promise<SimulatorAttempt['state']>;
  ledger(): Promise<SimulatorLedger>;
  refunds(): Promise<readonly SimulatorRefund[]>;
}

export function testFolder(): { readonly dir: string; readonly remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-sim-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The real process, on a free port. */
export async function startSimulator(env: Record<string, string>): Promise<SimulatorProcess> {
  const app = spawnApp(new URL('..', import.meta.url), {
    LAPSE_SIM_API_KEY: apiKey,
    LAPSE_SIM_PORT: '0',
    ...env,
  });
  await app.waitForOutput('"started"');
  const url = `http://127.0.0.1:${portIn(app, 'payment simulator listens')}`;
  const opsUrl = `http://127.0.0.1:${portIn(app, 'ops server listens')}`;
  await waitUntil(async () => (await fetch(`${opsUrl}/readyz`)).ok, { what: 'the simulator to be ready' });
  const { payment } = readConfig(
    {
      LAPSE_PAYMENT_PROVIDER: 'simulator',
      LAPSE_PAYMENT_URL: url,
      LAPSE_PAYMENT_API_KEY: apiKey,
      LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
      LAPSE_PAYMENT_TIMEOUT: '20s',
    },
    ['payment'],
  );
  const provider = await openPaymentProvider(payment, log);
  if (!provider) throw new Error('no provider');
  const call = async <T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as T };
  };
  return {
    app,
    url,
    opsUrl,
    provider,
    call,
    pay: (ref, body) => call('POST', `/v1/attempts/${ref}/pay`, body),
    setFaults: async (faults) => {
      const reply = await call('PUT', '/v1/faults', faults);
      if (reply.status !== 200) throw new Error(JSON.stringify(reply));
    },
    stateOf: async (ref) => (await call<SimulatorAttempt>('GET', `/v1/attempts/${ref}`)).body.state,
    ledger: async () => (await call<SimulatorLedger>('GET', '/v1/ledger?limit=10000')).body,
    refunds: async () =>
      (await call<{ refunds: SimulatorRefund[] }>('GET', '/v1/refunds?limit=10000')).body.refunds,
  };
}

function portIn(app: SpawnedApp, message: string): number {
  const line = app
    .output()
    .split('\n')
    .find((text) => text.includes(message));
  return Number(JSON.parse(line ?? '{}').port);
}
