/**
 * Work through items, in their order, at most `lanesMax` at once. An item that fails ends its lane while the others
 * go on, so that as many failures as there are lanes end the whole: what fails for all is not tried for each.
 * @throws the first failure, once every lane has ended.
 */
export async function workInLanes<T>(
  items: readonly T[],
  lanesMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(lanesMax, items.length) }, lane));
  const failed = lanes.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
