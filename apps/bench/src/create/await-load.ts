import { sleep } from '@lapse/runtime';
import type { RunningPrograms } from '../start-programs.ts';
import { type LoadResult, loadResult, resultText } from './load.ts';

const lookEveryMs = 20;

/** Wait for what the load generator has to say. */
export async function awaitLoad(load: RunningPrograms, signal: AbortSignal): Promise<LoadResult> {
  for (;;) {
    signal.throwIfAborted();
    const line = load
      .output('load')
      .split('\n')
      .find((each) => each.startsWith(resultText));
    if (line !== undefined) return loadResult.parse(JSON.parse(line.slice(resultText.length)));
    await sleep(lookEveryMs, signal);
  }
}
