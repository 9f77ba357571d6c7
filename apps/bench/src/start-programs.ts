import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalService, type LocalService } from '@lapse/local-services';
import { nodeArgs } from '@lapse/testing';
import { BenchError } from './bench-error.ts';

/** A contender's process: a JavaScript file and its environment. */
export interface Program {
  /** Under which its CPU time is reported; `worker` as a rule. */
  readonly name: string;
  readonly file: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** It is ready once it has written this. */
  readonly readyText: string;
}

export interface RunningPrograms {
  readonly pids: Readonly<Record<string, readonly number[]>>;
  /** Fails when one of them ends by itself. */
  readonly died: Promise<never>;
  /** The exit code of each, once all have ended; null of one that a signal ended. */
  readonly ended: Promise<readonly (number | null)[]>;
  /** What it has written so far. */
  readonly output: (name: string) => string;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** At once: their work is done, or no longer wanted. */
  readonly kill: () => Promise<void>;
}

const readyTimeoutMs = 60_000;
/** For programs that write down their profile when they are asked to end. */
const profiledStopGraceMs = 20_000;

/**
 * Start programs side by side and wait until all are ready. They get PATH, HOME and their own variables, nothing of a
 * person's environment; they end with this process, however it ends.
 * @param dir a folder of this run alone: logs.
 * @throws {BenchError} LAPSE_BENCH_PROGRAM with its last lines, when one does not become ready.
 */
export async function startPrograms(programs: readonly Program[], dir: string): Promise<RunningPrograms> {
  const services = programs.map((program) => toService(program, dir));
  const kill = async (): Promise<void> => {
    if (profileDir() === undefined) for (const service of services) service.kill('SIGKILL');
    await Promise.all(services.map((service) => service.stop()));
  };
  try {
    await Promise.all(services.map((service) => service.start()));
  } catch (error) {
    await kill();
    throw new BenchError('LAPSE_BENCH_PROGRAM', (error as Error).message, { cause: error });
  }
  const died = new Promise<never>((_, reject) => {
    for (const service of services) {
      service.onExit(({ expected, logTail }) => {
        if (!expected) reject(new BenchError('LAPSE_BENCH_PROGRAM', `${service.name} ended:\n${logTail}`));
      });
    }
  });
  const ended = Promise.all(
    services.map(
      (service) => new Promise<number | null>((resolve) => service.onExit(({ code }) => resolve(code))),
    ),
  );
  // Whoever waits hears of it; after the kill nobody does.
  died.catch(() => undefined);
  return {
    pids: Object.fromEntries(services.map((service) => [service.name, service.pids])),
    died,
    ended,
    output: (name) => readLog(dir, name),
    signal: (signal) => {
      for (const service of services) service.kill(signal);
    },
    kill,
  };
}

function toService({ name, file, args = [], env, readyText }: Program, dir: string): LocalService {
  return createLocalService({
    name,
    ports: {},
    programs: [
      {
        name,
        command: process.execPath,
        args: [...nodeArgs, ...profileArgs(name), file, ...args],
        dir,
        env: { ...inherited(), ...env },
        ports: [],
        ready: async () => readLog(dir, name).includes(readyText),
        readyTimeoutMs,
        stopGraceMs: profileDir() === undefined ? 1_000 : profiledStopGraceMs,
      },
    ],
  });
}

/** Where CPU profiles of the programs go, for whoever wants to see what costs; the figures of such a run are worthless. */
function profileDir(): string | undefined {
  return process.env.LAPSE_BENCH_CPU_PROF || undefined;
}

function profileArgs(name: string): string[] {
  const dir = profileDir();
  return dir === undefined
    ? []
    : ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}.cpuprofile`];
}

/** LAPSE_TEST_RUN marks what a run of tests started, so that none is left behind. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, HOME, LAPSE_TEST_RUN } = process.env;
  return { PATH, HOME, ...(LAPSE_TEST_RUN && { LAPSE_TEST_RUN }) };
}

function readLog(dir: string, name: string): string {
  return readFileSync(join(dir, `${name}.log`), 'utf8');
}
