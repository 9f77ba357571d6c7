import CliTable from 'cli-table3';
import { plainText } from './plain-text.ts';

const noBorders = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'])
    .map((name) => [name, '']),
);

type Cell = string | number | null;

/** Rows under their names, aligned, without lines; wide characters count as two. A null is an empty cell. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const drawn = new CliTable({
    head: [...head],
    chars: { ...noBorders, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map((_, column) => (rows.every((row) => isNumber(row[column])) ? 'right' : 'left')),
  });
  drawn.push(...rows.map((row) => row.map((cell) => plainText(String(cell ?? '')))));
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function isNumber(cell: Cell | undefined): boolean {
  return cell === null || typeof cell === 'number';
}
