import type { ImageReport } from './check-images.ts';

const bytesPerMb = 1_000_000;

/** A table for a person: what each image's tree holds, how soon its process is ready, what memory it takes then. */
export function describeImages(reports: readonly ImageReport[]): string {
  const rows = reports.map(({ app, bytes, packages, readyMs, rssBytes }) => [
    app,
    `${(bytes / bytesPerMb).toFixed(0)} MB`,
    String(packages),
    readyMs === undefined ? '-' : `${(readyMs / 1000).toFixed(2)} s`,
    rssBytes === undefined ? '-' : `${(rssBytes / bytesPerMb).toFixed(0)} MB`,
  ]);
  const lines = [['image', 'tree', 'packages', 'ready after', 'memory'], ...rows];
  return lines
    .map(
      (cells) =>
        `  ${cells
          .map((cell, column) => cell.padEnd(column === 0 ? 20 : 13))
          .join('')
          .trimEnd()}`,
    )
    .join('\n');
}
