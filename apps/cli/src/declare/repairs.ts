import type { Command as Program } from 'commander';
import type { Runs } from '../command.ts';
import { changes, example } from './options.ts';

/** What waits for a person, and what a person may do about it. */
export function declareRepairs(program: Program, runs: Runs): void {
  declareParked(program, runs);
  declareDeliveries(program, runs);
  declareMoney(program, runs);
}

function paged(command: Program): Program {
  return command
    .option('--after <id>', 'the next page: rows after this one')
    .option('--limit <number>', 'most rows shown, up to 200 (50)');
}

function declareParked(program: Program, runs: Runs): void {
  const parked = program.command('parked').description('messages and orders that could not be handled');
  example(
    paged(
      parked
        .command('list')
        .description('what was set aside, oldest first')
        .option('--state <state>', 'PARKED, REDRIVEN or DROPPED (PARKED)')
        .option('--kind <kind>', 'order, message or dead_letter')
        .option('--order <id>', 'of this order alone'),
    ),
    'parked list',
  ).action(runs(async () => (await import('../commands/parked-list.ts')).listParked));
  example(
    parked
      .command('show')
      .argument('<id>')
      .description('one of them, with its reason and the start of its message'),
    'parked show 12',
  ).action(runs(async () => (await import('../commands/parked-show.ts')).showParked));
  example(
    changes(
      parked
        .command('redrive')
        .argument('<ids...>')
        .description('put rows back to work, once their cause is gone'),
    ),
    'parked redrive 12 13 --reason "the disk is back" --apply',
  ).action(runs(async () => (await import('../commands/parked-settle.ts')).redriveParked));
  example(
    changes(
      parked
        .command('drop')
        .argument('<ids...>')
        .description('be done with rows without doing anything about them'),
    ),
    'parked drop 12 --reason "a test message" --apply',
  ).action(runs(async () => (await import('../commands/parked-settle.ts')).dropParked));
}

function declareDeliveries(program: Program, runs: Runs): void {
  const kind = ['--kind <kind>', 'notification (to buyers) or shop_event (notification)'] as const;
  const undelivered = program.command('undelivered').description('notices and events that were given up');
  example(
    paged(
      undelivered
        .command('list')
        .description('given up after their tries, oldest first')
        .option(...kind),
    ),
    'undelivered list --kind shop_event',
  ).action(runs(async () => (await import('../commands/undelivered-list.ts')).listUndelivered));
  example(
    changes(
      undelivered
        .command('resend')
        .argument('<ids...>')
        .description('have them delivered, with all their tries again')
        .option(...kind),
    ),
    'undelivered resend 4 5 --reason "the mail server is back" --apply',
  ).action(runs(async () => (await import('../commands/undelivered-resend.ts')).resendUndelivered));

  const effects = program.command('effects').description('notices and events that could not even be written');
  example(
    paged(effects.command('list').description('left after all their tries, oldest first')),
    'effects list',
  ).action(runs(async () => (await import('../commands/effects.ts')).listEffects));
  example(
    changes(
      effects.command('redrive').argument('<ids...>').description('have them written, with all their tries'),
    ),
    'effects redrive 019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001 --reason "the row is mended" --apply',
  ).action(runs(async () => (await import('../commands/effects.ts')).redriveEffects));
}

function declareMoney(program: Program, runs: Runs): void {
  const refunds = program.command('refunds').description('money that goes back');
  example(
    paged(
      refunds
        .command('list')
        .description('refunds in one state, oldest first')
        .option(
          '--state <state>',
          'REFUND_PENDING, REFUND_FAILED, REFUNDED, QUARANTINED or DISMISSED, in either case (REFUND_PENDING)',
        ),
    ),
    'refunds list --state REFUND_FAILED',
  ).action(runs(async () => (await import('../commands/refunds-list.ts')).listRefunds));
  example(
    changes(
      refunds
        .command('retry')
        .argument('<ids...>')
        .description('order refunds anew that failed at the provider; the settler pays them'),
    ),
    'refunds retry 31 --reason "the account is open again" --apply',
  ).action(runs(async () => (await import('../commands/refunds-settle.ts')).refundPayments));
  example(
    changes(
      refunds
        .command('paid')
        .argument('<id>')
        .description('note that a person has paid a refund: no provider is asked for it any more')
        .option('--reference <text>', 'what the bank calls the transfer'),
    ),
    'refunds paid 31 --reference TR-7712 --reason "paid by the bank" --apply',
  ).action(runs(async () => (await import('../commands/refunds-paid.ts')).markRefundPaid));

  const quarantined = program
    .command('payments')
    .description('money that came')
    .command('quarantined')
    .description('of another amount or currency than its order, or against another payment');
  example(paged(quarantined.command('list').description('oldest first')), 'payments quarantined list').action(
    runs(async () => (await import('../commands/refunds-list.ts')).listQuarantined),
  );
  example(
    changes(quarantined.command('refund').argument('<ids...>').description('what was captured goes back')),
    'payments quarantined refund 9 --reason "asked the buyer" --apply',
  ).action(runs(async () => (await import('../commands/refunds-settle.ts')).refundPayments));
  example(
    changes(quarantined.command('dismiss').argument('<ids...>').description('no money came after all')),
    'payments quarantined dismiss 9 --reason "not in the provider\'s ledger" --apply',
  ).action(runs(async () => (await import('../commands/refunds-settle.ts')).dismissPayments));
}
