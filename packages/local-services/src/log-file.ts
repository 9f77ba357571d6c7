import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';

const rotateAtBytes = 5 * 1024 * 1024;
const tailBytesMax = 4_096;
const tailLinesMax = 15;

/**
 * Open a program's log for appending. A log that has grown large is moved to `.1` first, so two
 * files of bounded size is all there ever is from before this start.
 * @returns the descriptor, and where this start's lines begin.
 */
export function openLog(file: string): { fd: number; startsAt: number } {
  if (existsSync(file) && statSync(file).size > rotateAtBytes) renameSync(file, `${file}.1`);
  const fd = openSync(file, 'a');
  return { fd, startsAt: fstatSync(fd).size };
}

/** The last lines written since `startsAt`, for an error message; empty when there are none. */
export function readLogTail(file: string, startsAt = 0): string {
  try {
    const fd = openSync(file, 'r');
    try {
      const { size } = fstatSync(fd);
      const from = Math.max(startsAt, size - tailBytesMax);
      const buffer = Buffer.alloc(Math.max(0, size - from));
      readSync(fd, buffer, 0, buffer.length, from);
      return buffer.toString('utf8').trimEnd().split('\n').slice(-tailLinesMax).join('\n');
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
