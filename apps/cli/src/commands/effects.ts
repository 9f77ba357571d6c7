import { effectOutcomes, leftEffectList, lowerCaseUuid } from '@lapse/contracts';
import { toLeftEffectView } from '@lapse/operations';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { listResult, nextOf } from '../list-result.ts';
import { readInput, typedLimit } from '../read-input.ts';
import { settleCommand } from '../settle-command.ts';
import { typedRowIds } from '../typed-rows.ts';

const options = z.object({ after: lowerCaseUuid.optional(), limit: typedLimit });

/** `lapse effects list` */
export const listEffects: Command = async (context, input) => {
  const { after, limit } = readInput(options, input.options);
  const orders = await context.orders();
  const page = await orders.listLeftEffects({ limit, ...(after === undefined ? {} : { afterId: after }) });
  const effects = page.map(toLeftEffectView);
  const { time } = context.words;
  return listResult(context, {
    shape: leftEffectList,
    data: { effects, next: nextOf(effects, limit) },
    head: ['id', 'kind', 'orders', 'tries', 'since'],
    rows: effects.map((row) => [row.id, row.kind, row.orders, row.attempts, time(row.createdAt)]),
    empty: 'no notice or event was left unwritten',
  });
};

/** `lapse effects redrive` */
export const redriveEffects: Command = settleCommand({
  name: 'effects redrive',
  ids: typedRowIds,
  shape: effectOutcomes,
  settle: (orders, ids, asked, answer) => orders.redriveEffects(ids, asked, answer),
});
