import { settledAnswer } from '@lapse/operations';
import type { OrderRepository, SettleAnswer, SettleOptions, SettleResult } from '@lapse/order-repository';
import type { z } from 'zod';
import type { Command, CommandResult } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { askedChange } from './operator-request.ts';
import { readInput } from './read-input.ts';
import { refusedResult } from './refused-result.ts';
import { table } from './table.ts';

/** Rows that are settled by hand: which, how, and by which public shape it is told. */
export interface Settling<Id, Outcome> {
  /** As it stands on the command line; with the rows it makes a repeat the same. */
  readonly name: string;
  readonly ids: z.ZodType<readonly Id[]>;
  readonly shape: z.ZodType;
  readonly settle: (
    orders: OrderRepository,
    ids: readonly Id[],
    options: SettleOptions,
    answer: SettleAnswer<Outcome>,
  ) => Promise<SettleResult<Outcome>>;
}

interface Settled {
  readonly dryRun: boolean;
  readonly outcomes: readonly (Readonly<Record<string, unknown>> & { readonly kind: string })[];
}

/** Outcomes that are what was asked for, now or by somebody before. Any other one is a refusal. */
const wanted: ReadonlySet<string> = new Set([
  ...['redriven', 'dropped', 'settled', 'resent', 'refund_due', 'dismissed'],
]);

/** A command that settles rows by hand: all or, when it dies half way, none. */
export function settleCommand<Id, Outcome>({ name, ids, shape, settle }: Settling<Id, Outcome>): Command {
  return async (context, input) => {
    const rows = readInput(ids, input.args);
    const { apply, request } = askedChange(input, name, rows);
    const orders = await context.orders();
    const dryRun = !apply;
    const settled = await settle(orders, rows, { ...request, dryRun }, settledAnswer(shape, dryRun));
    if (settled.kind === 'key_reused') return refusedResult({ code: 'IDEMPOTENCY_KEY_REUSED' });
    if (settled.kind === 'refused') throw new Error('rows were refused as a whole');
    return settledResult(shape, JSON.parse(settled.answer.body.toString()) as Settled);
  };
}

function settledResult(shape: z.ZodType, settled: Settled): CommandResult {
  const { dryRun, outcomes } = settled;
  const rows = outcomes.map(({ id, kind, changed: _changed, ...facts }) => [
    String(id),
    dryRun && wanted.has(kind) && kind !== 'settled' ? `would be ${kind}` : kind,
    Object.entries(facts)
      .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
      .join(' '),
  ]);
  const first = dryRun ? 'dry run, nothing was changed; --apply --reason TEXT does it\n' : '';
  return {
    shape,
    data: settled,
    text: `${first}${table(['id', 'outcome', 'detail'], rows)}`,
    exitCode: outcomes.every(({ kind }) => wanted.has(kind)) ? exitCodes.ok : exitCodes.found,
  };
}
