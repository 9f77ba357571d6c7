import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Replace a small JSON file so that a reader, or a crash half way, sees the old or the new one whole. */
export function writeJson(file: string, value: unknown): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
  renameSync(temporary, file);
}

/** The parsed file, or undefined when it is absent or damaged: its writer then counts as gone. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
