/** Work that did not end in its time. It may still be running: nothing can stop a promise. */
export class TimeBoxError extends Error {
  readonly code = 'LAPSE_TIME_BOX';
  constructor(what: string, ms: number) {
    super(`${what} did not end within ${ms} ms`);
    this.name = 'TimeBoxError';
  }
}

/**
 * Wait for `work`, but at most `ms`: then reject with TimeBoxError. The work goes on unobserved, and a
 * rejection that comes after the time is up is swallowed, not an unhandled one.
 */
export async function timeBox<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeBoxError(what, ms)), ms);
  });
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
