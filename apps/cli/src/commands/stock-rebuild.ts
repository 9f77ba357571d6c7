import { rebuildStock } from '@lapse/stock-audit';
import { changeResult, wouldDo } from '../change-result.ts';
import type { Command } from '../command.ts';
import { askedChange } from '../operator-request.ts';
import { refusedResult } from '../refused-result.ts';
import { typedActivityId } from '../typed-ids.ts';

/**
 * `lapse stock rebuild`: noted first, then done under the lock of the activity, so that one process at a time does it.
 * A repeat with the same key loads it again: a load that died half way leaves the activity without stock, and loading
 * twice is as good as once.
 */
export const rebuildStockOf: Command = async (context, input) => {
  const id = typedActivityId(input);
  const { apply, request } = askedChange(input, 'stock rebuild', [id]);
  const orders = await context.orders();
  const activity = await orders.readActivity(id);
  if (activity?.archivedAt) return refusedResult({ code: 'ACTIVITY_ARCHIVED' });
  const counts = await orders.readActivityCounts(id);
  if (counts === null) return refusedResult({ code: 'ACTIVITY_NOT_FOUND' });
  const active = counts.pending.orders + counts.paid.orders;
  const thing = { activityId: id, activeOrders: active, free: counts.available };
  if (!apply)
    return wouldDo(`activity ${id} would be loaded with ${active} orders; its sales wait meanwhile`, thing);
  const stock = await context.stock();
  await stock.ping();
  const action = { action: 'stock.rebuild', targetKind: 'activity', target: String(id) } as const;
  const noted = await orders.noteAction(request, action, {
    status: 200,
    body: Buffer.from(JSON.stringify(thing)),
  });
  if (noted.kind === 'key_reused') return refusedResult({ code: 'IDEMPOTENCY_KEY_REUSED' });
  if (noted.kind === 'refused') throw new Error('a note was refused');
  context.progress(`loading ${active} orders of activity ${id} …`);
  await rebuildStock({ orders, stock, log: context.log }, id, 'asked for by an operator', () => true);
  return changeResult(noted, () => `activity ${id} was loaded with ${active} orders`);
};
