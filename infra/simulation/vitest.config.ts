import { mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/** It computes and waits for nothing, with what others leave of the processors: at times next to nothing. */
export default mergeConfig(shared, { test: { testTimeout: 300_000 } });
