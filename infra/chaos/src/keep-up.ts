import type { LocalService } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';

/** A service or process that is started again whenever it is down, unless a fault holds it down. */
export interface KeptService {
  readonly service: LocalService;
  /** SIGKILL, and leave it dead until `release`. */
  holdDown(program?: string): void;
  /** SIGKILL and resolve once it is dead; for what must be done to its files meanwhile. */
  holdDownUntilGone(program?: string): Promise<void>;
  release(): void;
  /** Deaths that no fault asked for: a process that ended by itself. */
  readonly ownDeaths: readonly string[];
  stop(): Promise<void>;
}

const againMs = 300;

export function keepUp(service: LocalService): KeptService {
  const ownDeaths: string[] = [];
  let holds = 0;
  let stopped = false;
  let starting = false;

  async function bringUp(): Promise<void> {
    if (starting) return;
    starting = true;
    while (!stopped && holds === 0 && service.state !== 'running') {
      // A start that fails (its database is away) is tried again, as an orchestrator would.
      await service.start().catch(() => sleep(againMs));
    }
    starting = false;
  }
  service.onExit((exit) => {
    if (holds > 0 || stopped || exit.expected) return;
    ownDeaths.push(
      `${service.name} (${exit.program}) ended by itself: ${exit.signal ?? `code ${exit.code}`}`,
    );
    void bringUp();
  });
  const holdDown = (program?: string): void => {
    holds += 1;
    service.kill('SIGKILL', program);
  };
  return {
    service,
    ownDeaths,
    holdDown,
    holdDownUntilGone: async (program) => {
      const pids = service.pids;
      holdDown(program);
      while (program === undefined ? service.pids.length > 0 : service.pids.length >= pids.length)
        await sleep(20);
    },
    release: () => {
      holds -= 1;
      void bringUp();
    },
    stop: async () => {
      stopped = true;
      await service.stop();
    },
  };
}
