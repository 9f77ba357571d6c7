/** Ids remembered; the oldest is forgotten first, and would then be logged a second time. */
const idsRememberedMax = 10_000;
/** Ids written in one line; `count` says how many there were. */
const idsPerLineMax = 20;

/**
 * A reporter that names each id once, however often its message is delivered. One line per call, bounded,
 * with the ids in `orderIds`.
 * @returns a function that takes ids, logs the ones that are new, and returns how many were.
 */
export function logIdsOnce(
  write: (fields: { readonly count: number; readonly orderIds: string[] }, message: string) => void,
  message: string,
): (ids: readonly string[]) => number {
  const seen = new Set<string>();
  return (ids) => {
    const fresh = ids.filter((id) => !seen.has(id));
    for (const id of fresh) {
      seen.add(id);
      if (seen.size > idsRememberedMax) forgetOldest(seen);
    }
    if (fresh.length > 0) write({ count: fresh.length, orderIds: fresh.slice(0, idsPerLineMax) }, message);
    return fresh.length;
  };
}

function forgetOldest(seen: Set<string>): void {
  for (const id of seen) {
    seen.delete(id);
    return;
  }
}
