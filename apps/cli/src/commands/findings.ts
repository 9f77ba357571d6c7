import { findingList, lowerCaseUuid } from '@lapse/contracts';
import { toFindingView } from '@lapse/operations';
import { z } from 'zod';
import type { Command } from '../command.ts';
import { listResult, nextOf } from '../list-result.ts';
import { readInput, typedLimit } from '../read-input.ts';

const options = z.object({ before: lowerCaseUuid.optional(), limit: typedLimit });

/** `lapse findings` */
export const listFindings: Command = async (context, input) => {
  const { before, limit } = readInput(options, input.options);
  const orders = await context.orders();
  const page = await orders.listFindings({ limit, ...(before === undefined ? {} : { beforeId: before }) });
  const findings = page.map(toFindingView);
  const { time } = context.words;
  return listResult(context, {
    shape: findingList,
    data: { findings, next: nextOf(findings, limit) },
    head: ['at', 'activity', 'kind', 'action', 'healed', 'detail'],
    rows: findings.map((row) => [
      ...[time(row.at), row.activityId, row.kind, row.action],
      row.healedAt === null ? 'no' : time(row.healedAt),
      JSON.stringify(row.detail),
    ]),
    empty: 'no audit has found anything',
    nextOption: '--before',
  });
};
