import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

type Known = NonNullable<ParseArgsConfig['options']>;
type Values<Options extends Known> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options }>
>['values'];

/**
 * The options of a command of the repository: those that it knows, and nothing beside them.
 * @throws {UsageError} naming the argument that it does not know, or that lacks its value.
 */
export function parseOptions<const Options extends Known>(
  args: readonly string[],
  options: Options,
): Values<Options> {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const message = (error as Error).message.replace(/\.?( To specify.*)?$/s, '');
    throw new UsageError(`${message}. --help lists the options.`, { cause: error });
  }
}
