import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@lapse/runtime';
import type { Fault } from './fault-plan.ts';
import { skewedEnv } from './find-faketime.ts';
import type { KeptService } from './keep-up.ts';
import type { LinkFault } from './network-link.ts';
import type { LinkedService } from './open-app.ts';
import { sendToRedis } from './send-to-redis.ts';
import type { World } from './world.ts';

/** Redis keeps every write here; an older copy of it is an older Redis. */
const appendOnlyFolder = 'appendonlydir';

/** Make one fault and undo it; resolves when it is over. What it broke may need longer to recover. */
export async function applyFault(world: World, fault: Fault, faketime: string | undefined): Promise<void> {
  const { kind, forMs } = fault;
  switch (kind) {
    case 'kill': {
      const { kept, program } = find(world, fault.target);
      if (program !== undefined) await isRunning(kept);
      kept.holdDown(program);
      await sleep(forMs);
      return kept.release();
    }
    case 'freeze': {
      const { kept, program } = find(world, fault.target);
      kept.service.kill('SIGSTOP', program);
      await sleep(forMs);
      return kept.service.kill('SIGCONT', program);
    }
    case 'flush':
      return await sendToRedis(world.services.ports.redis, 'FLUSHALL');
    case 'rollback':
      return await rollBack(world, forMs);
    case 'skew':
      return await skewClock(world, fault, faketime);
    case 'network':
      return await breakNetwork(world, fault);
  }
}

/** Longest wait for a service that is starting; then this fault is not made. */
const runningMsMax = 20_000;

/** A broker that starts without its name server never becomes ready, which is the fault of who killed it then. */
async function isRunning({ service }: KeptService): Promise<void> {
  const endsAt = performance.now() + runningMsMax;
  while (service.state !== 'running') {
    if (performance.now() >= endsAt) throw new Error(`${service.name} is still starting`);
    await sleep(200);
  }
}

/** The process or server that a fault is about. */
function find({ apps, services }: World, target: string): { kept: KeptService; program?: string } {
  if (target === 'broker' || target === 'namesrv') return { kept: services.kept.rocketmq, program: target };
  if (target === 'mysql' || target === 'redis') return { kept: services.kept[target] };
  return { kept: findApp(apps, target).kept };
}

function findApp(apps: World['apps'], name: string): World['apps'][number] {
  const app = apps.find((each) => each.name === name);
  if (app === undefined) throw new Error(`The plan names a process that is not there: ${name}.`);
  return app;
}

/** Redis dies, and comes back as it was `ageMs` before: a restored backup, or a replica that lagged. */
async function rollBack({ services }: World, ageMs: number): Promise<void> {
  const live = join(services.redisDir, appendOnlyFolder);
  const older = join(services.redisDir, 'older');
  rmSync(older, { recursive: true, force: true });
  cpSync(live, older, { recursive: true });
  await sleep(ageMs);
  const { redis } = services.kept;
  await redis.holdDownUntilGone();
  rmSync(live, { recursive: true, force: true });
  cpSync(older, live, { recursive: true });
  redis.release();
}

/** Killed and started with a clock that is off, then killed and started with a true one. */
async function skewClock({ apps }: World, { target, how, forMs }: Fault, faketime?: string): Promise<void> {
  if (faketime === undefined) return;
  const app = findApp(apps, target);
  const restartWith = async (extra: Record<string, string>): Promise<void> => {
    await app.kept.holdDownUntilGone();
    app.setExtraEnv(extra);
    app.kept.release();
  };
  await restartWith(skewedEnv(faketime, Number(how)));
  await sleep(forMs);
  await restartWith({});
}

async function breakNetwork({ apps }: World, { target, how, forMs }: Fault): Promise<void> {
  const [name = '', service = ''] = target.split(' to ');
  const link = findApp(apps, name).links[service as LinkedService];
  if (link === undefined) throw new Error(`The plan names a link that is not there: ${target}.`);
  link.setFault(how as LinkFault);
  await sleep(forMs);
  link.setFault(undefined);
}
