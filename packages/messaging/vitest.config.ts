import { mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/** Almost all of the time here is waiting for polls and outages, so files wait together: 3.5 minutes become 1.5. */
export default mergeConfig(shared, { test: { fileParallelism: true, maxWorkers: 4 } });
