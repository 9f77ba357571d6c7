import { readSchema } from '@lapse/order-repository';
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { schemaShape } from '../shapes/schema.ts';
import { table } from '../table.ts';

/** `lapse schema status` */
export const showSchema: Command = async (context) => {
  const { mysql } = context.config('mysql');
  const { applied, pending, unknown } = await readSchema(mysql, context.log);
  const { time, zone } = context.words;
  const rows = [
    ...applied.map(({ name, at }) => [
      name,
      unknown.includes(name) ? 'of a newer release' : 'applied',
      time(at),
    ]),
    ...pending.map((name) => [name, 'PENDING', null]),
  ];
  const advice = pending.length === 0 ? 'up to date' : `${pending.length} pending: lapse schema migrate`;
  return {
    shape: schemaShape,
    data: { applied: applied.map(({ name, at }) => ({ name, at: at.toISOString() })), pending, unknown },
    text: `${table(['migration', 'state', 'at'], rows)}\n${advice}\nTimes: ${zone}`,
    exitCode: pending.length === 0 ? exitCodes.ok : exitCodes.found,
  };
};
