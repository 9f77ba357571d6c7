import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import { waitUntil } from '@lapse/testing';
import { expect, onTestFinished, test } from 'vitest';
import { runClient } from '../src/run-client.ts';
import { untilAborted } from '../src/until-aborted.ts';

test('who waits for a wish to stop hears of one that came before, and of one that comes', async () => {
  await untilAborted(AbortSignal.abort());
  const stop = new AbortController();
  const waiting = untilAborted(stop.signal);
  stop.abort();
  await waiting;
});

test('a client that is started after a wish to stop ends, though by itself it never would', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-client-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const opsPort = await freePort();
  const env = {
    ...{ LAPSE_SIM_DIR: dir, LAPSE_SIM_API_KEY: 'k'.repeat(44), LAPSE_LOG_LEVEL: 'fatal' },
    ...{ LAPSE_SIM_PORT: String(await freePort()), LAPSE_OPS_PORT: String(opsPort) },
  };
  const run = (signal: AbortSignal) => runClient({ app: 'payment-simulator', args: [], env, signal });
  expect(await run(AbortSignal.abort())).toBe(1);
  // Control: it runs until it is told to end, and then ends well.
  const stop = new AbortController();
  const running = run(stop.signal);
  const isReady = async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok;
  await waitUntil(isReady, { what: 'the client to run' });
  stop.abort();
  expect(await running).toBe(0);
}, 20_000);
