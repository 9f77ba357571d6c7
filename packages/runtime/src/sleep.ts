/** The longest delay that a Node timer takes; more would fire at once. */
const timerMsMax = 2_147_483_647;

/**
 * Wait `ms` milliseconds. When the signal aborts, resolves early instead of rejecting: a loop looks at
 * `signal.aborted` anyway, and no caller has to catch. Delays beyond 24.8 days are cut to that.
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(0, ms), timerMsMax));
    signal?.addEventListener('abort', done, { once: true });
  });
}
