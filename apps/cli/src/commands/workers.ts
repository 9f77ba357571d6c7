import { lowerCaseUuid, workerList, workerPauseView } from '@lapse/contracts';
import { directWorker, durationInWords, toWorkerView } from '@lapse/operations';
import { z } from 'zod';
import type { Command, CommandResult } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { pauseResult } from '../pause-result.ts';
import { readInput } from '../read-input.ts';
import { refusedResult } from '../refused-result.ts';
import { table } from '../table.ts';
import type { Words } from '../words.ts';

/** `lapse workers list`: every process of the last hour. */
export const listWorkers: Command = async (context) => {
  const orders = await context.orders();
  const workers = (await orders.listWorkers()).map(toWorkerView);
  return listed(workers, orders.now(), context.words);
};

function listed(
  workers: readonly ReturnType<typeof toWorkerView>[],
  nowMs: number,
  { time, zone }: Words,
): CommandResult {
  const rows = workers.map(
    ({ id, kind, host, pid, version, state, wanted, alive, startedAt, heartbeatAt, figures }) => [
      ...[id, kind, version, `${host}:${pid}`, alive ? state : `${state}, not heard of`, wanted],
      ...[time(startedAt), durationInWords(Math.max(0, nowMs - Date.parse(heartbeatAt)))],
      ...[figures.inHand ?? null, figures.waiting ?? null, figures.latenessP99Ms ?? null],
    ],
  );
  const head = [
    'id',
    'kind',
    'version',
    'where',
    'state',
    'wanted',
    'since',
    'heard',
    'in hand',
    'waiting',
    'late p99 ms',
  ];
  const text =
    rows.length === 0 ? 'no process was heard of within the hour' : `${table(head, rows)}\nTimes: ${zone}`;
  return { shape: workerList, data: { workers }, text };
}

/** `lapse workers pause`: it takes nothing new, and what it has in hand it finishes. */
export const pauseWorker: Command = direct('PAUSE');

/** `lapse workers resume` */
export const resumeWorker: Command = direct('RUN');

function direct(wanted: 'RUN' | 'PAUSE'): Command {
  return async (context, input) => {
    const { ID: id } = readInput(z.object({ ID: lowerCaseUuid }), { ID: input.args[0] });
    const verb = wanted === 'PAUSE' ? 'pause' : 'resume';
    const { apply, request } = askedChange(input, `workers ${verb}`, [id]);
    const orders = await context.orders();
    const answer = await directWorker({ orders }, id, wanted, { ...request, dryRun: !apply });
    if (answer.kind === 'refused') return refusedResult(answer.problem);
    const now = `process ${id} is to ${wanted === 'PAUSE' ? 'pause' : 'run'}, and hears of it with its next heartbeat`;
    return pauseResult(workerPauseView, answer.answer.body, now);
  };
}
