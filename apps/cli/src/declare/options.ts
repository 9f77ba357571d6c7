import { Option, type Command as Program } from 'commander';

/** What every command that changes something takes. */
export function changes(command: Program): Program {
  return command
    .option('--apply', 'do it; without this it is a dry run')
    .addOption(
      new Option('--dry-run', 'only say what would be done: so without --apply').conflicts(['apply', 'heal']),
    )
    .option('--reason <text>', 'why; kept with the change, and required with --apply')
    .option('--actor <name>', 'who asks for it (this user)')
    .option('--key <key>', 'the same key and command again is done once (a new one)');
}

/** The example of a command, under its help. */
export function example(command: Program, ...lines: readonly string[]): Program {
  const title = lines.length === 1 ? 'Example:' : 'Examples:';
  return command.addHelpText('after', `\n${title}\n${lines.map((line) => `  $ lapse ${line}`).join('\n')}`);
}
