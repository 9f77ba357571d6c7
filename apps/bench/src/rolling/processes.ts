import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@lapse/local-services';
import { type App, appProgram, ownEnvironment } from '../app-program.ts';
import type { Sale } from '../sale.ts';
import { type RunningPrograms, startPrograms } from '../start-programs.ts';
import type { Balancer } from './balance.ts';

/** Between the moment in which a balancer no longer sends to a process, and its SIGTERM: what `preStop` waits for. */
const preStopMs = 2_000;
/** The drain of a process and more: beyond it is a fault. */
const exitMsMax = 40_000;
const lookEveryMs = 20;

export interface RollingParts {
  readonly sale: Sale;
  readonly jwtSecret: string;
  readonly balancer: Balancer;
  readonly dir: string;
}

/** One process of a kind; producers have a port behind the balancer. */
export interface Member {
  readonly app: App;
  readonly programs: RunningPrograms;
  readonly port: number;
}

/** Names of processes, and so of their logs, are never used twice: a port that nobody listens on may come again. */
let started = 0;

/** Start one; a producer takes its share of new connections from then on. */
export async function startMember(
  app: App,
  { sale, jwtSecret, balancer, dir }: RollingParts,
): Promise<Member> {
  started += 1;
  const port = await freePort();
  const name = `${app}-${started}`;
  const programs = await startPrograms(
    [appProgram(app, sale, name, ownEnvironment(app, { port, jwtSecret }))],
    dir,
  );
  if (app === 'producer') balancer.backends = [...balancer.backends, port];
  return { app, programs, port };
}

/**
 * As a rolling update ends one: no new connections, some time for those who know it still, SIGTERM, and its end awaited.
 * @returns what it took from the signal to its end, in ms.
 * @throws when it does not end in time.
 */
export async function endMember(
  { app, programs, port }: Member,
  { balancer }: RollingParts,
): Promise<number> {
  if (app === 'producer') {
    balancer.backends = balancer.backends.filter((each) => each !== port);
    await sleep(preStopMs);
  }
  const [pid = 0] = Object.values(programs.pids).flat();
  const since = performance.now();
  programs.signal('SIGTERM');
  while (isAlive(pid)) {
    if (performance.now() - since > exitMsMax) throw new Error(`${app} did not end within ${exitMsMax} ms`);
    await sleep(lookEveryMs);
  }
  return performance.now() - since;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
