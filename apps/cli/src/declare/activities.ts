import type { Command as Program } from 'commander';
import type { Runs } from '../command.ts';
import { changes, example } from './options.ts';

/** `lapse activity …`. */
export function declareActivities(program: Program, runs: Runs): void {
  const activity = program.command('activity').description('what is sold');
  example(
    changes(
      activity
        .command('create')
        .description('put an activity on sale')
        .requiredOption('--name <text>', 'its name')
        .requiredOption('--capacity <number>', 'places on sale')
        .requiredOption(
          '--price-minor <number>',
          'price of one place in cents, fen …; 0 can be paid to no provider',
        )
        .requiredOption('--currency <code>', 'code of ISO 4217, such as CNY')
        .option('--sale-starts-at <time>', 'sales open then (at once)')
        .option('--sale-ends-at <time>', 'sales end then (never)')
        .option('--pay-within-ms <duration>', 'an order closes when it is unpaid for so long (15m)')
        .option('--remind-after-ms <duration>', 'its buyer is reminded when it is unpaid for so long (10m)')
        .option('--quantity-max <number>', 'most places in one order (1)')
        .option('--late-payment-policy <policy>', 'refund, or reacquire (refund)')
        .option(
          '--payment-grace-ms <duration>',
          'how long an order that is being paid waits past its deadline (30s)',
        ),
    ),
    'activity create --name "Evening show" --capacity 500 --price-minor 8800 --currency CNY --reason launch --apply',
  ).action(runs(async () => (await import('../commands/activity-create.ts')).createActivity));
  example(
    activity
      .command('list')
      .description('activities by number')
      .option('--after <number>', 'the next page: those after this one')
      .option('--limit <number>', 'most activities shown, up to 200 (50)'),
    'activity list',
  ).action(runs(async () => (await import('../commands/activity-list.ts')).listActivities));
  example(
    activity
      .command('show')
      .argument('<number>')
      .description('its terms, and its places in MySQL and in Redis'),
    'activity show 7',
  ).action(runs(async () => (await import('../commands/activity-show.ts')).showActivity));
  example(
    changes(
      activity
        .command('capacity')
        .argument('<number>')
        .argument('<places>')
        .description('change how many places it has, while it sells; never below what is held and sold'),
    ),
    'activity capacity 7 520 --reason "20 chairs more" --apply',
  ).action(runs(async () => (await import('../commands/activity-capacity.ts')).changeCapacity));

  example(
    changes(
      activity
        .command('pause')
        .argument('<number>')
        .description('refuse new orders; closing, paying and reminding go on'),
    ),
    'activity pause 7 --reason "the price is wrong" --apply',
  ).action(runs(async () => (await import('../commands/activity-pause.ts')).pauseSale));
  example(
    changes(activity.command('resume').argument('<number>').description('take new orders again')),
    'activity resume 7 --reason "the price is right" --apply',
  ).action(runs(async () => (await import('../commands/activity-pause.ts')).resumeSale));
}
