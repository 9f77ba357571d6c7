import type { BurstContender } from '../burst/contender.ts';

/**
 * One way to close orders at their deadline. All do the same work for each order, once: the order's status from PENDING
 * by compare-and-set, the place back in MySQL, the place and the buyer back in Redis.
 */
export type CloseContender = BurstContender;
