const cells = 20;

/** How far long work has come: `[##########..........]  50%`. @param share from 0 to 1; above that it is done. */
export function progressBar(share: number): string {
  const done = Math.min(1, Math.max(0, share));
  const filled = Math.floor(done * cells);
  return `[${'#'.repeat(filled)}${'.'.repeat(cells - filled)}] ${`${Math.floor(done * 100)}%`.padStart(4)}`;
}
