import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface WaitOptions {
  /** What is awaited, as it reads in "Waited 10 s for …". */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

const timeoutMsDefault = 10_000;
const everyMsDefault = 20;
/** Longest text of the last value in the failure. */
const shownMax = 2_000;

/**
 * Ask until the answer is truthy, and return it. Instead of a fixed sleep: as quick as the system, and it
 * says what it saw. A check that throws counts as "not yet"; a check that never settles fails in time too.
 * @throws {Error} after `timeoutMs`, naming `what` and the last value or error (which is also its `cause`).
 */
export async function waitUntil<T>(
  check: () => T | Promise<T>,
  { what, timeoutMs = timeoutMsDefault, everyMs = everyMsDefault }: WaitOptions,
): Promise<T> {
  const startedAt = performance.now();
  const timeout = new AbortController();
  const expired = sleep(timeoutMs, 'expired' as const, { signal: timeout.signal });
  // The timer is aborted on the way out; nobody needs to hear of it.
  expired.catch(() => undefined);
  let last = 'the check did not answer once';
  let cause: unknown;
  try {
    for (;;) {
      const outcome = await Promise.race([ask(check), expired]);
      if (outcome === 'expired') break;
      if (outcome.kind === 'value' && outcome.value) return outcome.value;
      cause = outcome.kind === 'error' ? outcome.error : undefined;
      last = outcome.kind === 'error' ? `error: ${show(outcome.error)}` : `value: ${show(outcome.value)}`;
      if (performance.now() - startedAt >= timeoutMs) break;
      if ((await Promise.race([sleep(everyMs), expired])) === 'expired') break;
    }
  } finally {
    timeout.abort();
  }
  throw new Error(`Waited ${timeoutMs} ms for ${what}; last ${last}`, { cause });
}

type Answer<T> = { kind: 'value'; value: T } | { kind: 'error'; error: unknown };

async function ask<T>(check: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { kind: 'value', value: await check() };
  } catch (error) {
    return { kind: 'error', error };
  }
}

function show(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, { depth: 4 });
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
