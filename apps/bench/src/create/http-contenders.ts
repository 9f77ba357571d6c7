import { durableLimit } from './contenders/durable-limit.ts';
import { lapse } from './contenders/lapse.ts';
import { limit } from './contenders/limit.ts';
import { productLimit } from './contenders/product-limit.ts';
import { seed } from './contenders/seed.ts';
import type { HttpContender } from './http-contender.ts';

/** All there are, in the order in which they run. */
export const createContenders: readonly HttpContender[] = [limit, durableLimit, productLimit, lapse, seed];
/** The seed refuses by the same commands as the bare route: it has nothing to show here. */
export const refusalContenders: readonly HttpContender[] = [limit, productLimit, lapse];
