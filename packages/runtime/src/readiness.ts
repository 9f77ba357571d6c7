import { hideUrlPasswords } from './hide-secrets.ts';
import { timeBox } from './time-box.ts';

/** Longest time that a probe waits for one check. */
const checkTimeoutMs = 1_000;

/** The same for a check that no longer counts: what may be away must not make a probe run into its own limit. */
const idleCheckTimeoutMs = 250;

/** A result is served again for this long: probes from many sides cost one round of checks. */
const cachedMs = 1_000;

const faultMax = 200;

export interface CheckResult {
  readonly ok: boolean;
  readonly ms: number;
  readonly fault?: string;
}

export interface ReadinessReport {
  /** Who answers: a starter can tell its own child from another process on the same port. */
  readonly pid: number;
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export interface CheckOptions {
  /**
   * `always`: the process is ready only while the check passes. `until-passed`: once it has passed it counts no more,
   * because the process can work without; it is measured and shown all the same.
   */
  readonly counts?: 'always' | 'until-passed';
}

interface Check {
  readonly run: () => Promise<CheckResult>;
  /** Whether a failure makes the process not ready, now. */
  readonly counts: () => boolean;
}

export interface Readiness {
  setReady(ready: boolean): void;
  addCheck(name: string, check: () => Promise<void>, options?: CheckOptions): void;
  report(): Promise<ReadinessReport>;
}

/**
 * Whether a process can do its work now: it said so, and each of its checks that counts passes. Checks run at the
 * same time, each in a time box; a check that still hangs is not started a second time.
 */
export function createReadiness(): Readiness {
  const checks = new Map<string, Check>();
  let ready = false;
  let latest: { readonly at: number; readonly results: Promise<Record<string, CheckResult>> } | undefined;

  const runChecks = async () => {
    const results = await Promise.all(
      [...checks].map(async ([name, { run }]) => [name, await run()] as const),
    );
    return Object.fromEntries(results);
  };

  return {
    setReady: (next) => {
      ready = next;
    },
    addCheck: (name, check, { counts = 'always' } = {}) => {
      checks.set(name, boundCheck(name, check, counts));
      latest = undefined;
    },
    report: async () => {
      if (!latest || performance.now() - latest.at > cachedMs) {
        latest = { at: performance.now(), results: runChecks() };
      }
      const results = await latest.results;
      const passed = Object.entries(results).every(([name, { ok }]) => ok || !checks.get(name)?.counts());
      return { pid: process.pid, ready: ready && passed, checks: results };
    },
  };
}

function boundCheck(
  name: string,
  check: () => Promise<void>,
  mode: NonNullable<CheckOptions['counts']>,
): Check {
  let running: Promise<void> | undefined;
  let hasPassed = false;
  const counts = () => mode === 'always' || !hasPassed;
  const run = async (): Promise<CheckResult> => {
    const startedAt = performance.now();
    const passed = () => Math.round(performance.now() - startedAt);
    running ??= callAsync(check).finally(() => {
      running = undefined;
    });
    try {
      await timeBox(running, counts() ? checkTimeoutMs : idleCheckTimeoutMs, name);
      hasPassed = true;
      return { ok: true, ms: passed() };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { ok: false, ms: passed(), fault: hideUrlPasswords(text).slice(0, faultMax) };
    }
  };
  return { run, counts };
}

/** Async, so that a check that throws at once rejects like any other. */
async function callAsync(check: () => Promise<void>): Promise<void> {
  await check();
}
