import type { z } from 'zod';
import type { Context } from './context.ts';
import type { ExitCode } from './exit-codes.ts';

/** What a command came to: the data, and how a person reads it. */
export interface CommandResult {
  /** By this shape it goes out with --json. Fields are added to a shape and never change their meaning. */
  readonly shape: z.ZodType;
  readonly data: unknown;
  readonly text: string;
  /** 0 unless said. */
  readonly exitCode?: ExitCode;
}

/** What stood on the command line: arguments in their order, and options by their camel-case names. */
export interface CommandInput {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** One command. Null: it has printed everything itself. */
export type Command = (context: Context, input: CommandInput) => Promise<CommandResult | null>;

/** Loads a command when it is asked for: `lapse --help` opens no store and reads few files. */
export type LoadCommand = () => Promise<Command>;
/** What the parser calls for a command of the command line. */
export type Runs = (load: LoadCommand) => (...passed: unknown[]) => Promise<void>;
