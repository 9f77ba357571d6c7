import type { HoldLook } from '@lapse/stock';
import type { Context } from './context.ts';

/** What Redis holds of an order; null where it does not answer: MySQL tells the rest all the same. */
export async function readHold(
  context: Context,
  { id, activityId }: { readonly id: string; readonly activityId: number },
): Promise<HoldLook | null> {
  try {
    return await (await context.stock()).readHold(activityId, id);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'LAPSE_STOCK_UNAVAILABLE') return null;
    throw error;
  }
}
