import type { Command as Program } from 'commander';
import type { Runs } from '../command.ts';
import { example } from './options.ts';

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
}
