import { CommanderError } from 'commander';
import type { Command, CommandInput, CommandResult } from './command.ts';
import { describeError } from './describe-error.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { buildProgram } from './program.ts';

/**
 * Run one command line. Data goes to `out`, everything else to `err`; with --json `out` gets one JSON document and
 * nothing besides, and a failure is a JSON document on `err`.
 * @returns the exit code: see exit-codes.ts.
 */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.ok;
  const program = buildProgram(io, async (load, input) => {
    exitCode = await runCommand(await load(), input, io);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return helpCodes.has(error.code) ? exitCodes.ok : exitCodes.usage;
    return fail(error, argv.includes('--json'), io);
  }
}

/** How commander says that it printed what was asked for. */
const helpCodes = new Set(['commander.helpDisplayed', 'commander.version']);

async function runCommand(command: Command, input: CommandInput, io: Io): Promise<ExitCode> {
  const { openContext } = await import('./context.ts');
  const { verbose, json } = input.options;
  const context = openContext(io, { verbose: verbose === true, utc: json === true });
  try {
    const result = await command(context, input);
    if (result === null) return exitCodes.ok;
    print(result, input, io);
    return result.exitCode ?? exitCodes.ok;
  } finally {
    await context.close();
  }
}

function print({ shape, data, text }: CommandResult, { options }: CommandInput, io: Io): void {
  if (options.json === true) io.out.write(`${JSON.stringify(shape.parse(data), null, 2)}\n`);
  else io.out.write(text.endsWith('\n') ? text : `${text}\n`);
}

function fail(error: unknown, json: boolean, io: Io): ExitCode {
  const { code, message, exitCode } = describeError(error);
  io.err.write(json ? `${JSON.stringify({ error: { code, message } })}\n` : `lapse: ${code}: ${message}\n`);
  return exitCode;
}
