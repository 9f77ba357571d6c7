import { sleep } from '@lapse/runtime';
import type { ChaosApp } from '../open-app.ts';

const lookEveryMs = 50;
const probeTimeoutMs = 2_000;

/**
 * Resolves with the time at which every process says that it is ready, and that each thing it needs answers: more than
 * an orchestrator asks, since what a process can work without does not count there. A process looks at most once a
 * second, so that this may be as much later than the truth. Null: not until the signal.
 */
export async function awaitReady(apps: readonly ChaosApp[], signal: AbortSignal): Promise<number | null> {
  while (!signal.aborted) {
    const states = await Promise.all(apps.map(({ opsUrl }) => isWell(opsUrl)));
    if (states.every(Boolean)) return Date.now();
    await sleep(lookEveryMs, signal);
  }
  return null;
}

async function isWell(opsUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(probeTimeoutMs) });
    const { checks } = (await response.json()) as { checks: Record<string, { ok: boolean }> };
    return response.ok && Object.values(checks).every(({ ok }) => ok);
  } catch {
    return false;
  }
}
