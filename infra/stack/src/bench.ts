import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, reapLeftovers } from '@lapse/local-services';
import { serviceNames } from './choose-services.ts';
import { rootDir } from './folders.ts';
import { type LocalServices, openLocal } from './local.ts';
import { runClient } from './run-client.ts';
import { runCommand } from './run-command.ts';
import { installPrograms } from './services.ts';

/** `npm run bench`: private services with fresh data for the measurements alone; apps/bench is a client of them. */
await runCommand(async ({ print, signal, onKill }) => {
  const runBench = (env: NodeJS.ProcessEnv): Promise<number> =>
    runClient({ app: 'bench', args: process.argv.slice(2), env, signal });
  const wrong = await runBench({ LAPSE_BENCH_CHECK_ONLY: '1' });
  if (wrong !== 0) return wrong;
  const dir = join(rootDir, '.lapse-bench');
  const lock = lockFolder(dir);
  let services: LocalServices | undefined;
  try {
    await reapLeftovers(dir, { log: print.warn });
    for (const name of [...serviceNames, 'runs']) rmSync(join(dir, name), { recursive: true, force: true });
    await installPrograms(serviceNames, process.env, print);
    // Nothing is restarted: a service that dies must spoil the figures and be seen.
    services = await openLocal({ dir, wanted: serviceNames, print, restart: false, signal });
    onKill(services.kill);
    return await runBench({
      LAPSE_MYSQL_URL: services.mysqlUrl,
      LAPSE_REDIS_URL: services.redisUrl,
      LAPSE_ROCKETMQ_ENDPOINTS: services.rocketmqEndpoints,
      LAPSE_ROCKETMQ_NAMESRV: services.rocketmqNamesrv,
      LAPSE_BENCH_DIR: dir,
    });
  } finally {
    // The closing line is to be the last. The data is thrown away, so nothing is worth a clean stop.
    print.mute();
    services?.kill();
    await services?.close();
    for (const name of serviceNames) rmSync(join(dir, name), { recursive: true, force: true });
    lock.release();
  }
});
