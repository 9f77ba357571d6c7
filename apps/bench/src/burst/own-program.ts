import { fileURLToPath } from 'node:url';
import { readyText } from '../ready-text.ts';
import type { Sale } from '../sale.ts';
import type { Program } from '../start-programs.ts';
import type { BurstTask } from './burst-task.ts';
import type { BurstContender } from './contender.ts';

export const armedText = 'bench: armed';

/** Compiled also in a test, which itself runs from source. */
const file = fileURLToPath(new URL('../../dist/contender-process.js', import.meta.url));

/** The process that arms a contender: ready first, armed once the deadline is set. Undefined where there is nothing to arm. */
export function armProgram(task: BurstTask, { name, arm }: BurstContender, sale: Sale): Program | undefined {
  return arm && ownProgram('armer', ['arm', task.name, name], sale);
}

/** The processes that work: the contender's own programs, or its `work`. */
export function workPrograms(
  task: BurstTask,
  { name, programs }: BurstContender,
  sale: Sale,
): readonly Program[] {
  return programs?.(sale) ?? [ownProgram('worker', ['work', task.name, name], sale)];
}

function ownProgram(name: string, args: readonly string[], sale: Sale): Program {
  return { name, file, args, env: { LAPSE_BENCH_SALE: JSON.stringify(sale) }, readyText };
}
