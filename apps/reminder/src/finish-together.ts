import { type BatchName, createBatcher } from '@lapse/runtime';

/**
 * Note what was delivered: what ends while a write is under way is written together in the next, a transaction for
 * several and not for each. Where the whole fails, each is written by itself, so that one that cannot be noted stops no
 * other.
 * @param name of the queue in the metrics, where each has its own.
 * @returns what notes one; it rejects when that one could not be noted.
 */
export function finishTogether<Finished>(
  name: Extract<BatchName, `note_${string}`>,
  finish: (finished: readonly Finished[]) => Promise<void>,
  batchMax: number,
): (finished: Finished) => Promise<void> {
  const { submit } = createBatcher<Finished, () => Promise<void>>({
    name,
    run: async (finished) => {
      try {
        await finish(finished);
        return finished.map(() => async () => undefined);
      } catch (error) {
        if (finished.length === 1) throw error;
        const ends = await Promise.allSettled(finished.map((each) => finish([each])));
        return ends.map((end) => async () => {
          if (end.status === 'rejected') throw end.reason;
        });
      }
    },
    batchMax,
    queueMax: batchMax,
  });
  return async (finished) => (await submit(finished))();
}
