import { waitUntil } from '@lapse/testing';
import type { DrillParts } from './drill.ts';

const timeoutMs = 120_000;

/** Wait for the first order that is answered from now on, and say how long it took. */
export async function awaitOrder(
  { load, say }: Pick<DrillParts, 'load' | 'say'>,
  since: string,
): Promise<void> {
  const startedAt = Date.now();
  const at = await waitUntil(() => load.createdAt.find((time) => time >= startedAt), {
    ...{ what: `an order to be sold ${since}`, timeoutMs },
  });
  say(`the first order is sold ${(((at ?? startedAt) - startedAt) / 1_000).toFixed(1)} s ${since}`);
}
