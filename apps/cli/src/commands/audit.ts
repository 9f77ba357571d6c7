import { activityId } from '@lapse/contracts';
import type { Activity, OrderRepository } from '@lapse/order-repository';
import { sleep } from '@lapse/runtime';
import {
  confirmDrift,
  type Difference,
  type DriftFinding,
  describeDrift,
  lookAtStock,
  mendDrift,
} from '@lapse/stock-audit';
import { z } from 'zod';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { askedChange } from '../operator-request.ts';
import { readInput, typedNumber } from '../read-input.ts';
import { refusedResult } from '../refused-result.ts';
import { auditShape } from '../shapes/audit.ts';
import { table } from '../table.ts';

const options = z.object({
  activity: typedNumber.pipe(activityId).optional(),
  heal: z.boolean().default(false),
  apply: z.boolean().default(false),
});
/** Between the two looks: as long as the sweeper waits, longer than any change under way needs. */
const secondLookMs = 5_000;
const activitiesPerPage = 500;

interface Suspect {
  readonly activity: Activity;
  readonly differences: readonly Difference[];
}

/** `lapse audit`: one look of the auditor now, at every order; and its healing, where it is asked for. */
export const audit: Command = async (context, input) => {
  const typed = readInput(options, input.options);
  const asked = { ...input, options: { ...input.options, apply: typed.heal || typed.apply } };
  const { apply, request } = askedChange(asked, 'audit', [typed.activity ?? null]);
  const orders = await context.orders();
  const activities = await listAudited(orders, typed.activity);
  if (activities.length === 0 && typed.activity !== undefined) {
    return refusedResult({ code: 'ACTIVITY_NOT_FOUND' });
  }
  if (activities.some(({ archivedAt }) => archivedAt)) return refusedResult({ code: 'ACTIVITY_ARCHIVED' });
  const { sweeper } = context.config('sweeper');
  const youngMs = sweeper.orphansAfterMs;
  const { suspects, notLoaded } = await lookOnce(context, activities, youngMs);
  if (suspects.length > 0) {
    context.progress(`${suspects.length} activities differ; looking again in ${secondLookMs / 1_000} s …`);
    await sleep(secondLookMs, context.io.signal);
  }
  const ports = { orders, stock: await context.stock(), log: context.log };
  const drifts: { activity: Activity; drift: Difference[] }[] = [];
  for (const { activity, differences } of suspects) {
    const drift = await confirmDrift(ports, activity.id, differences, youngMs);
    if (drift.length > 0) drifts.push({ activity, drift });
  }
  const findings = drifts.flatMap(({ activity, drift }) => describeDrift(activity.id, drift));
  if (apply && drifts.length > 0) {
    const detail = { activities: drifts.map(({ activity }) => activity.id) };
    const action = {
      action: 'stock.heal',
      targetKind: 'activity',
      target: `${typed.activity ?? 'all'}`,
      detail,
    };
    await orders.noteAction(request, action, { status: 200, body: Buffer.from('{}') });
    for (const { activity, drift } of drifts) await mendDrift(ports, activity, drift);
  }
  const healed = apply && findings.length > 0;
  return {
    shape: auditShape,
    data: { activities: activities.length, notLoaded, findings, healed },
    text: textOf(activities.length, notLoaded, findings, healed),
    exitCode: findings.length > 0 && !healed ? exitCodes.found : exitCodes.ok,
  };
};

async function listAudited(orders: OrderRepository, only: number | undefined): Promise<Activity[]> {
  if (only !== undefined) return [await orders.readActivity(only)].flatMap((activity) => activity ?? []);
  const found: Activity[] = [];
  for (let afterId = 0; ; afterId = found.at(-1)?.id ?? 0) {
    const page = await orders.listActivities({ afterId, limit: activitiesPerPage, only: 'live' });
    found.push(...page);
    if (page.length < activitiesPerPage) return found;
  }
}

async function lookOnce(
  context: Context,
  activities: readonly Activity[],
  youngMs: number,
): Promise<{ suspects: Suspect[]; notLoaded: number[] }> {
  const ports = { orders: await context.orders(), stock: await context.stock() };
  const suspects: Suspect[] = [];
  const notLoaded: number[] = [];
  for (const [index, activity] of activities.entries()) {
    const text = `comparing activity ${activity.id} (${index + 1} of ${activities.length}) …`;
    context.progress(text, index / activities.length);
    const look = await lookAtStock(ports, activity.id, { youngMs, everyOrder: true });
    if (look.kind === 'different') suspects.push({ activity, differences: look.differences });
    if (look.kind === 'passing') notLoaded.push(activity.id);
  }
  return { suspects, notLoaded };
}

function textOf(
  activities: number,
  notLoaded: readonly number[],
  findings: readonly DriftFinding[],
  healed: boolean,
): string {
  const lines = [`compared ${activities} activities, every order`];
  if (notLoaded.length > 0) {
    lines.push(`not loaded, or being loaded just now: ${notLoaded.join(', ')}; the sweeper sees to that`);
  }
  if (findings.length === 0) return [...lines, 'MySQL and Redis agree'].join('\n');
  const rows = findings.map(({ activityId: id, kind, action, detail }) => [
    ...[id, kind, detail.count, action],
    detail.seen.slice(0, 3).join('; '),
  ]);
  lines.push(table(['activity', 'difference', 'count', 'mended by', 'such as'], rows));
  lines.push(
    healed
      ? 'healed'
      : 'nothing was changed; --heal --reason TEXT mends it, and the sweeper does within minutes',
  );
  return lines.join('\n');
}
