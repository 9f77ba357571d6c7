import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, reapLeftovers } from '@lapse/local-services';
import { serviceNames } from './choose-services.ts';
import { explain } from './explain.ts';
import { rootDir } from './folders.ts';
import { type LocalServices, openLocal } from './local.ts';
import { onStop } from './on-stop.ts';
import { createPrinter } from './print.ts';
import { installPrograms } from './services.ts';

/** `npm run bench`: private services with fresh data for the measurements alone; apps/bench is a client of them. */
const print = createPrinter();
const stop = new AbortController();
let kill = (): void => {};

onStop(
  (why) => {
    print.line(`stopping (${why})`);
    stop.abort();
  },
  () => {
    kill();
    process.exit(130);
  },
);

const code = await main().catch((error: unknown) => {
  if (!stop.signal.aborted) print.line(`\n${explain(error)}`);
  return 1;
});
print.end();
process.exit(stop.signal.aborted ? 130 : code);

async function main(): Promise<number> {
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
    services = await openLocal({ dir, wanted: serviceNames, print, restart: false, signal: stop.signal });
    kill = services.kill;
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
}

async function runBench(env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', join(rootDir, 'apps', 'bench', 'dist', 'main.js'), ...process.argv.slice(2)],
    {
      cwd: rootDir,
      // Its own group: it is told to stop once, by us.
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    },
  );
  const end = (): void => void child.kill('SIGTERM');
  stop.signal.addEventListener('abort', end, { once: true });
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  stop.signal.removeEventListener('abort', end);
  return exitCode ?? 1;
}
