import { mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/**
 * Each file has a shop and processes of its own, and most of its time they wait for deadlines. A process a file, because
 * they are handed to the workers one by one then, and not shared out beforehand, however long each takes.
 */
export default mergeConfig(shared, { test: { fileParallelism: true, maxWorkers: 4, isolate: true } });
