import { becomeReady, cutShortError, startFailed } from './become-ready.ts';
import { requirePorts, unreservePorts } from './free-port.ts';
import type { ProgramPlan } from './program-plan.ts';
import { type OwnedProcess, type ProcessExit, spawnOwned } from './spawn-owned.ts';

/** `down`: a program died by itself, or a start failed. `stopped`: as asked. */
export type ServiceState = 'starting' | 'running' | 'stopping' | 'stopped' | 'down';

export interface ServiceExit extends ProcessExit {
  readonly program: string;
  readonly pid: number;
  /** True when `stop()` or `restart()` asked for it. */
  readonly expected: boolean;
  readonly logFile: string;
  /** The last lines it wrote. */
  readonly logTail: string;
}

/**
 * Servers that run as children of this process. Calls may overlap: they queue, and a `stop()` cuts
 * a start short. Ports and data stay the same over a restart.
 */
export interface LocalService {
  readonly name: string;
  readonly state: ServiceState;
  /** Of the programs that run now, in the order of starting. */
  readonly pids: readonly number[];
  readonly ports: Readonly<Record<string, number>>;
  /** Start what does not run; resolves once all of it answers. */
  start(): Promise<void>;
  /** Stop in reverse order and wait for the exits; leaves no process. Idempotent. */
  stop(): Promise<void>;
  /** The same as `stop`, for those who own closables. */
  close(): Promise<void>;
  restart(): Promise<void>;
  /** For tests of failures: SIGKILL, SIGSTOP, SIGCONT to all programs, or to the named one. */
  kill(signal: NodeJS.Signals, program?: string): void;
  /** Told of every exit of a program that had become ready. Returns how to unsubscribe. */
  onExit(listener: (exit: ServiceExit) => void): () => void;
}

/** Makes a service of programs. Nothing runs until `start()`. */
export function createLocalService(options: {
  readonly name: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly programs: readonly ProgramPlan[];
}): LocalService {
  const running = new Map<string, OwnedProcess>();
  const listeners = new Set<(exit: ServiceExit) => void>();
  let state: ServiceState = 'stopped';
  let cutShort = new AbortController();
  let queue: Promise<unknown> = Promise.resolve();

  function enqueue(task: () => Promise<void>): Promise<void> {
    const result = queue.then(task);
    queue = result.catch(() => {});
    return result;
  }

  async function startAll(signal: AbortSignal): Promise<void> {
    state = 'starting';
    try {
      for (const plan of options.programs) {
        if (running.has(plan.name)) continue;
        if (signal.aborted) throw cutShortError(options.name);
        await requirePorts(plan.ports);
        plan.prepare?.();
        const child = spawnOwned(plan);
        running.set(plan.name, child);
        void child.exit.then((exit) => onProgramExit(plan, child, exit));
        await becomeReady(options.name, plan, child, signal);
        unreservePorts(plan.ports);
      }
      const missing = options.programs.find((plan) => !running.has(plan.name));
      if (missing !== undefined) throw startFailed(options.name, `${missing.name} exited meanwhile`);
      state = 'running';
    } catch (error) {
      await stopAll();
      if (!signal.aborted) state = 'down';
      throw error;
    }
  }

  async function stopAll(): Promise<void> {
    state = 'stopping';
    for (const plan of options.programs.toReversed()) await running.get(plan.name)?.stop(plan.stopGraceMs);
    running.clear();
    unreservePorts(options.programs.flatMap((plan) => plan.ports));
    state = 'stopped';
  }

  function onProgramExit(plan: ProgramPlan, child: OwnedProcess, exit: ProcessExit): void {
    if (running.get(plan.name) === child) running.delete(plan.name);
    if (state === 'starting') return;
    const expected = state === 'stopping' || state === 'stopped';
    if (!expected) state = 'down';
    const { pid, logFile } = child;
    const event = { ...exit, program: plan.name, pid, expected, logFile, logTail: child.logTail() };
    for (const listener of listeners) listener(event);
  }

  const service: LocalService = {
    name: options.name,
    get state() {
      return state;
    },
    get pids() {
      return [...running.values()].map((child) => child.pid);
    },
    ports: options.ports,
    start: () => {
      // Taken now: the next stop() is to cut this start short, even while it still queues.
      const { signal } = cutShort;
      return enqueue(() => startAll(signal));
    },
    stop: () => {
      cutShort.abort();
      cutShort = new AbortController();
      return enqueue(stopAll);
    },
    close: () => service.stop(),
    restart: async () => {
      await service.stop();
      await service.start();
    },
    kill: (signal, program) => {
      for (const [name, child] of running)
        if (program === undefined || program === name) child.signal(signal);
    },
    onExit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return service;
}

/** Start a service, but stop it again as soon as the signal aborts. */
export async function startUntil(service: LocalService, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const cutShort = () => void service.stop();
  signal?.addEventListener('abort', cutShort, { once: true });
  try {
    await service.start();
  } finally {
    signal?.removeEventListener('abort', cutShort);
  }
}
