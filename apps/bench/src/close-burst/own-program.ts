import { fileURLToPath } from 'node:url';
import type { Program } from '../start-programs.ts';
import type { CloseContender } from './contender.ts';
import type { DueSale } from './due-sale.ts';

export const armedText = 'bench: armed';
export const readyText = 'bench: ready';

/** Compiled also in a test, which itself runs from source. */
const file = fileURLToPath(new URL('../../dist/contender-process.js', import.meta.url));

/** The process that arms a contender: ready first, armed once the deadline is set. Undefined where there is nothing to arm. */
export function armProgram({ name, arm }: CloseContender, sale: DueSale): Program | undefined {
  return arm && ownProgram('armer', ['arm', name], sale);
}

/** The processes that close: the contender's own programs, or its `work`. */
export function workPrograms({ name, programs }: CloseContender, sale: DueSale): readonly Program[] {
  return programs?.(sale) ?? [ownProgram('worker', ['work', name], sale)];
}

function ownProgram(name: string, args: readonly string[], sale: DueSale): Program {
  return { name, file, args, env: { LAPSE_BENCH_SALE: JSON.stringify(sale) }, readyText };
}
