import type { Command as Program } from 'commander';
import type { Runs } from '../command.ts';
import { changes, example } from './options.ts';

const someOrder = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';

/** `lapse order …` and `lapse explain order`. */
export function declareOrders(program: Program, runs: Runs): void {
  const order = program.command('order').description('look at orders, and end or extend one by hand');
  example(
    order
      .command('show')
      .argument('<id>')
      .description('all that happened to an order, and what Redis holds of it'),
    `order show ${someOrder}`,
  ).action(runs(async () => (await import('../commands/order-show.ts')).showOrder));
  example(
    order
      .command('find')
      .description('orders of a user, an activity or a payment, newest first')
      .option('--user <id>', 'who bought')
      .option('--activity <number>', 'what was bought')
      .option('--payment <id>', "the provider's id of a payment")
      .option('--before <id>', 'the next page: orders before this one')
      .option('--limit <number>', 'most orders shown, up to 200 (50)'),
    'order find --user ann --activity 7',
    'order find --payment pi_3Q…',
  ).action(runs(async () => (await import('../commands/order-find.ts')).findOrders));
  example(
    changes(
      order.command('cancel').argument('<id>').description('cancel a pending order: its places go back'),
    ),
    `order cancel ${someOrder} --reason "the show is moved" --apply`,
  ).action(runs(async () => (await import('../commands/order-cancel.ts')).cancelOrder));
  example(
    changes(
      order
        .command('extend')
        .argument('<id>')
        .description('move the deadline of a pending order to a later time')
        .option('--by-ms <duration>', 'so much later: 5m, 90s or milliseconds')
        .option('--until <time>', 'the new deadline, with its zone'),
    ),
    `order extend ${someOrder} --by-ms 5m --reason "the bank was slow" --apply`,
  ).action(runs(async () => (await import('../commands/order-extend.ts')).extendOrder));
  example(
    changes(
      order
        .command('close')
        .argument('<id>')
        .description('close an order that is past its deadline; never an early one'),
    ),
    `order close ${someOrder} --reason "no worker runs" --apply`,
  ).action(runs(async () => (await import('../commands/order-close.ts')).closeOrder));

  const explain = program.command('explain').description('say in plain sentences why');
  example(
    explain
      // The only thing that is explained so far: `lapse explain ID` will do.
      .command('order', { isDefault: true })
      .argument('<id>')
      // A word that is no command comes here as an id: the command itself names it.
      .allowExcessArguments()
      .description(
        'why an order is in its state, where its places are, who was told, and whether money is owed',
      ),
    `explain order ${someOrder}`,
  ).action(runs(async () => (await import('../commands/explain-order.ts')).explainOneOrder));
}
