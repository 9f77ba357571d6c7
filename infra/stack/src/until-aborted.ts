import { once } from 'node:events';

/** Until the signal aborts. It may have done so already: then no event comes any more. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
