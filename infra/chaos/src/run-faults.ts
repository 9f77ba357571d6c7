import { sleep } from '@lapse/runtime';
import type { Printer } from '@lapse/stack';
import { applyFault } from './apply-fault.ts';
import { describeFault, type Fault } from './fault-plan.ts';
import type { World } from './world.ts';

export interface FaultLog {
  /** Each with its second in the run; printed when a run fails. */
  readonly lines: readonly string[];
  /** Faults that were really made. */
  readonly made: number;
}

/** How long after the end of the plan a fault may still begin. */
const lateMsMax = 1_000;

/** Faults about one process or link wait for each other; about different ones they overlap. */
export async function runFaults(
  world: World,
  plan: readonly Fault[],
  faketime: string | undefined,
  print: Printer,
  signal: AbortSignal,
): Promise<FaultLog> {
  const startedAt = performance.now();
  const lastEndsAt = startedAt + Math.max(0, ...plan.map(({ atMs, forMs }) => atMs + forMs));
  const lines: string[] = [];
  const tails = new Map<string, Promise<void>>();
  let made = 0;
  const run = async (fault: Fault): Promise<void> => {
    // It waited for another fault of the same process until nobody could say which run it belongs to.
    if (performance.now() > lastEndsAt + lateMsMax) return;
    const since = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s`;
    lines.push(`${since()}  ${describeFault(fault)}`);
    print.line(lines.at(-1));
    try {
      await applyFault(world, fault, faketime);
      made += 1;
      lines.push(`${since()}  over: ${describeFault(fault)}`);
    } catch (error) {
      lines.push(`${since()}  not made: ${describeFault(fault)}: ${String(error)}`);
      print.warn(lines.at(-1) ?? '');
    }
  };
  for (const fault of plan) {
    await sleep(startedAt + fault.atMs - performance.now(), signal);
    if (signal.aborted) break;
    const key = processOf(fault);
    tails.set(
      key,
      (tails.get(key) ?? Promise.resolve()).then(() => run(fault)),
    );
  }
  await Promise.all(tails.values());
  return { lines, made };
}

function processOf({ target }: Fault): string {
  return target === 'namesrv' ? 'broker' : target;
}
