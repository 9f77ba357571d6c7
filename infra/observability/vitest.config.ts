import { configDefaults, mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/** The one part of the points of each process that is wanted; all where none is named. */
const wanted = process.env.LAPSE_TEST_CRASH_PART;
const others = ['1', '2', '3'].filter((part) => wanted !== undefined && part !== wanted);

/**
 * Each file has a shop and processes of its own, and most of its time they wait for deadlines. A process a file, because
 * they are handed to the workers one by one then, and not shared out beforehand, however long each takes.
 */
export default mergeConfig(shared, {
  test: {
    exclude: [...configDefaults.exclude, ...others.map((part) => `test/crash-*-${part}.test.ts`)],
    fileParallelism: true,
    maxWorkers: 3,
    isolate: true,
  },
});
