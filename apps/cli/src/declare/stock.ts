import type { Command as Program } from 'commander';
import type { Runs } from '../command.ts';
import { changes, example } from './options.ts';

/** `lapse stock …`, `lapse audit` and `lapse findings`. */
export function declareStock(program: Program, runs: Runs): void {
  const stock = program.command('stock').description('the stock in Redis');
  example(
    changes(
      stock
        .command('rebuild')
        .argument('<activity>')
        .description("load an activity's stock from MySQL anew; its sales wait meanwhile"),
    ),
    'stock rebuild 7 --reason "restored Redis from a backup" --apply',
  ).action(runs(async () => (await import('../commands/stock-rebuild.ts')).rebuildStockOf));
  example(
    changes(
      program
        .command('audit')
        .description(
          'compare MySQL and Redis, order by order, in two looks 5 s apart; exit code 1 where they differ',
        )
        .option('--activity <number>', 'this one alone (all that still sell or may owe something)')
        .option('--heal', 'mend what has drifted; the same as --apply'),
    ),
    'audit',
    'audit --activity 7 --heal --reason "after the restart"',
  ).action(runs(async () => (await import('../commands/audit.ts')).audit));
  example(
    program
      .command('findings')
      .description('what audits found, and refunds that failed at the provider; newest first')
      .option('--before <id>', 'the next page: those before this one')
      .option('--limit <number>', 'most findings shown, up to 200 (50)'),
    'findings --limit 10',
  ).action(runs(async () => (await import('../commands/findings.ts')).listFindings));
}
