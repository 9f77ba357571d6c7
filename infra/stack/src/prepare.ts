import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTopics, primeGroups } from '@lapse/messaging';
import { migrate } from '@lapse/order-repository';
import { createLogger, readConfig } from '@lapse/runtime';
import type { Printer } from './print.ts';

/**
 * Everything that must be there before the first app starts: schema, topics, groups, and a place for
 * each group in every queue. Safe to repeat, and safe while apps of an earlier start still run.
 * @param env what the apps get.
 */
export async function prepareStores(env: NodeJS.ProcessEnv, logs: string, print: Printer): Promise<void> {
  const { mysql, rocketmq } = readConfig(env, ['mysql', 'rocketmq']);
  const log = createLogger('stack', 'info', {
    write: (line) => appendFileSync(join(logs, 'stack.log'), line),
  });
  const schema = print.step(
    'schema',
    ({ applied }: { applied: string[] }) =>
      applied.length === 0 ? 'schema is up to date' : `schema migrated (${applied.length} steps)`,
    () => migrate(mysql, log),
  );
  // A broker that is given without its name server has its topics already; its groups may be new.
  const topics = rocketmq.namesrv
    ? print.step('topics and groups', 'topics and groups created and primed', () =>
        createTopics(rocketmq, log),
      )
    : print.step('priming the groups', 'groups primed (no LAPSE_ROCKETMQ_NAMESRV: topics must exist)', () =>
        primeGroups(rocketmq, log),
      );
  const results = await Promise.allSettled([schema, topics]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
