import { type Printer, runCommand } from '@lapse/stack';
import type { World } from './world.ts';

export interface ProgramParts {
  readonly print: Printer;
  readonly signal: AbortSignal;
  /** To be told as soon as there is something to kill. */
  readonly onWorld: (world: World) => void;
}

export interface ProgramResult {
  /** The last line that is printed. */
  readonly line: string;
  readonly ok: boolean;
}

/** One of the programs of this package: its last line says what it came to, and the exit code whether it was well. */
export async function runAsProgram(run: (parts: ProgramParts) => Promise<ProgramResult>): Promise<void> {
  await runCommand(async ({ print, signal, onKill }) => {
    const { line, ok } = await run({ print, signal, onWorld: (world) => onKill(world.kill) });
    print.end();
    print.line(line);
    return ok ? 0 : 1;
  });
}
