import { sleep } from '@lapse/runtime';
import type { KeptService } from '../keep-up.ts';
import type { World } from '../world.ts';
import type { OutageCase } from './outage-case.ts';

export interface Away {
  /** When it was gone, by this machine's clock. */
  readonly atMs: number;
  /** Bring it back; resolves once it answers whoever asks it directly. */
  bringBack(signal: AbortSignal): Promise<Back>;
}

export interface Back {
  /** From when on the service can be used. */
  readonly atMs: number;
  /** What its own start took of that. */
  readonly startMs: number;
}

const lookEveryMs = 10;

/** Take a service away from every process at once. */
export function takeAway(world: World, { service, how }: OutageCase): Away {
  return how === 'kill' ? kill(world, service) : cut(world, service);
}

function kill({ services }: World, name: OutageCase['service']): Away {
  // The name server stays: a broker that starts without it never becomes ready.
  const [kept, program]: [KeptService, string | undefined] =
    name === 'broker' ? [services.kept.rocketmq, 'broker'] : [services.kept[name], undefined];
  kept.holdDown(program);
  return {
    atMs: Date.now(),
    bringBack: async (signal) => {
      const startedAt = Date.now();
      kept.release();
      while (kept.service.state !== 'running' && !signal.aborted) await sleep(lookEveryMs, signal);
      const atMs = Date.now();
      return { atMs, startMs: atMs - startedAt };
    },
  };
}

function cut({ apps }: World, name: OutageCase['service']): Away {
  const links = apps.flatMap((app) => app.links[name] ?? []);
  for (const link of links) link.setFault('blackhole');
  return {
    atMs: Date.now(),
    bringBack: async () => {
      for (const link of links) link.setFault(undefined);
      return { atMs: Date.now(), startMs: 0 };
    },
  };
}
