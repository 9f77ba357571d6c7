import { mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/** Each file has a shop and processes of its own, and most of its time they wait for deadlines. */
export default mergeConfig(shared, { test: { fileParallelism: true, maxWorkers: 4 } });
