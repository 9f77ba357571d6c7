import type { Command as Program } from 'commander';
import type { Runs } from '../command.ts';
import { changes, example } from './options.ts';

/** What looks at, or sets up, the system as a whole. */
export function declareSystem(program: Program, runs: Runs): void {
  example(
    program
      .command('doctor')
      .description(
        'check settings, MySQL, Redis and RocketMQ; each fault with what mends it; exit code 1 if any',
      ),
    'doctor',
  ).action(runs(async () => (await import('../commands/doctor.ts')).examine));
  const schema = program.command('schema').description('the tables in MySQL');
  example(
    schema.command('migrate').description('bring the tables up to date; does nothing where they are'),
    'schema migrate',
  ).action(runs(async () => (await import('../commands/schema-migrate.ts')).migrateSchema));
  example(
    schema.command('status').description('which migrations have run; exit code 1 when some have not'),
    'schema status',
  ).action(runs(async () => (await import('../commands/schema-status.ts')).showSchema));
  const topics = program.command('topics').description('the topics in RocketMQ');
  example(
    topics
      .command('apply')
      .description('create topics and consumer groups; leaves those that exist as they are'),
    'topics apply',
  ).action(runs(async () => (await import('../commands/topics-apply.ts')).applyTopics));
  example(
    program
      .command('top')
      .description('what is going on now, live on a terminal')
      .option('--once', 'one picture, and no more'),
    'top',
    'top --once',
  ).action(runs(async () => (await import('../commands/top.ts')).top));
  declareWorkers(program, runs);
  example(
    changes(
      program
        .command('simulate')
        .description(
          'play a sale against the running system: real orders of a new activity, money of the payment simulator',
        )
        .option('--buyers <number>', 'how many people come', '100')
        .option('--places <number>', 'how many places there are', '40')
        .option('--pay <share>', 'of those with an order: who pays in time', '30%')
        .option('--pay-late <share>', 'who pays in the last 50 ms', '10%')
        .option('--cancel <share>', 'who cancels; all others never pay', '10%')
        .option('--rush <duration>', 'how long they keep coming', '3s')
        .option('--pay-within <duration>', 'when an unpaid order closes', '20s')
        .option('--remind-after <duration>', 'when its buyer is reminded', '12s')
        .option('--api <url>', 'where the API is (LAPSE_HTTP_PORT on this machine)'),
    ),
    'simulate --buyers 500 --places 100 --pay 60% --reason "before the big sale" --apply',
  ).action(runs(async () => (await import('../commands/simulate.ts')).simulate));
  example(
    program
      .command('completion')
      .argument('<shell>', 'bash, zsh or fish')
      .description('print a script that completes commands and options by TAB'),
    'completion bash > ~/.local/share/bash-completion/completions/lapse',
  ).action(runs(async () => (await import('../commands/completion.ts')).completion(program)));
}

function declareWorkers(program: Program, runs: Runs): void {
  const workers = program.command('workers').description('the running processes');
  const someWorker = '4f8a1d1e-4f0c-4d38-9d0e-8f5b0f3f0a11';
  example(
    workers.command('list').description('every process of the last hour: whether it is alive, what it does'),
    'workers list',
  ).action(runs(async () => (await import('../commands/workers.ts')).listWorkers));
  example(
    changes(
      workers
        .command('pause')
        .argument('<id>')
        .description('let a process take nothing new; PAUSED, with nothing in hand, it may be killed'),
    ),
    `workers pause ${someWorker} --reason "a new release" --apply`,
  ).action(runs(async () => (await import('../commands/workers.ts')).pauseWorker));
  example(
    changes(workers.command('resume').argument('<id>').description('let a process work again')),
    `workers resume ${someWorker} --reason "back to work" --apply`,
  ).action(runs(async () => (await import('../commands/workers.ts')).resumeWorker));
}
