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
 * @throws when it does not end in time, or says by its exit code that it did not hand everything back.
 */
export async function endMember(
  { app, programs, port }: Member,
  { balancer }: RollingParts,
): Promise<number> {
  if (app === 'producer') {
    balancer.backends = balancer.backends.filter((each) => each !== port);
    await sleep(preStopMs);
  }
  const since = performance.now();
  programs.signal('SIGTERM');
  const codes = await Promise.race([programs.ended, sleep(exitMsMax, null, { ref: false })]);
  if (codes === null) throw new Error(`${app} did not end within ${exitMsMax} ms`);
  if (codes.some((code) => code !== 0)) throw new Error(`${app} ended with exit code ${codes.join()}`);
  return performance.now() - since;
}
