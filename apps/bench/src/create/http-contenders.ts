import { durableLimit } from './contenders/durable-limit.ts';
import { lapse } from './contenders/lapse.ts';
import { limit } from './contenders/limit.ts';
import { seed } from './contenders/seed.ts';
import type { HttpContender } from './http-contender.ts';

/** In the order in which they run. */
export const httpContenders: readonly HttpContender[] = [limit, durableLimit, lapse, seed];
