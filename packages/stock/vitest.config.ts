import { mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

/** Each file in a process of its own: the cluster's runs the others' again, and they are read only once in a process. */
export default mergeConfig(shared, { test: { isolate: true } });
