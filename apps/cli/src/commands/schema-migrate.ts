import { migrate } from '@lapse/order-repository';
import type { Command } from '../command.ts';
import { migrateShape } from '../shapes/schema.ts';

/** `lapse schema migrate`: any number of processes may do it at once. */
export const migrateSchema: Command = async (context) => {
  const { mysql } = context.config('mysql');
  context.progress('migrating …');
  const { applied } = await migrate(mysql, context.log);
  const text = applied.length === 0 ? 'the schema was up to date' : `applied: ${applied.join(', ')}`;
  return { shape: migrateShape, data: { applied }, text };
};
