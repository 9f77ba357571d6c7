import {
  closeSync,
  createReadStream,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Closable } from '@lapse/runtime';
import type { JournalRecord } from './records.ts';

export interface Journal extends Closable {
  /**
   * Returns once the line is with the operating system: a process killed after that loses nothing (a machine that
   * loses power may; it is a simulator). @throws {Error} when it cannot be written, and from then on always.
   */
  append(record: JournalRecord): void;
}

const newLine = 0x0a;

/**
 * Open the journal of a folder and replay it. A last line without its end was never acknowledged: it is cut off.
 * @throws {Error} on a line that is not a record, or that `apply` refuses; its number is named.
 */
export async function openJournal(dir: string, apply: (record: JournalRecord) => void): Promise<Journal> {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'journal.jsonl');
  const file = openSync(path, 'a+', 0o600);
  try {
    ftruncateSync(file, lengthOfWholeLines(file));
    await replay(path, apply);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  let broken = false;
  return {
    append: (record) => {
      // A line that was written in part must not be followed by another.
      if (broken) throw new Error('the journal could not be written before; restart the simulator');
      broken = true;
      writeAll(file, Buffer.from(`${JSON.stringify(record)}\n`));
      broken = false;
    },
    close: async () => closeSync(file),
  };
}

function writeAll(file: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}

/** Looks from the end for the last line break, 64 KiB at a time. */
function lengthOfWholeLines(file: number): number {
  const buffer = Buffer.alloc(65_536);
  let end = fstatSync(file).size;
  while (end > 0) {
    const start = Math.max(0, end - buffer.length);
    const read = readSync(file, buffer, 0, end - start, start);
    const at = buffer.subarray(0, read).lastIndexOf(newLine);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

async function replay(path: string, apply: (record: JournalRecord) => void): Promise<void> {
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    number += 1;
    try {
      apply(JSON.parse(line) as JournalRecord);
    } catch (cause) {
      throw new Error(`line ${number} of ${path} cannot be replayed; move the file away to begin anew`, {
        cause,
      });
    }
  }
}
