import type { CloseContender } from './contender.ts';
import { bullmq } from './contenders/bullmq.ts';
import { graphileWorker } from './contenders/graphile-worker.ts';
import { lapse } from './contenders/lapse.ts';
import { limit } from './contenders/limit.ts';
import { pgBoss } from './contenders/pg-boss.ts';
import { poll100, poll1000 } from './contenders/poll.ts';
import { rabbitmq } from './contenders/rabbitmq.ts';
import { seed } from './contenders/seed.ts';
import { zset } from './contenders/zset.ts';

/** No goal is measured against these: once is enough to see where they are. */
const others: readonly CloseContender[] = [rabbitmq, zset, graphileWorker, pgBoss, poll1000, poll100];

/** In the order in which they run. The limit and Lapse are neighbours: their ratio matters most. */
export const closeContenders: readonly CloseContender[] = [
  ...[limit, lapse, seed, bullmq],
  ...others.map((contender) => ({ ...contender, roundsMax: 1 })),
];
