import { mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/** Most of its time a file waits, for promtool, a collector or processes of its own: side by side, a process a file. */
export default mergeConfig(shared, {
  test: { fileParallelism: true, maxWorkers: 3, isolate: true },
});
