import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A data folder of its own for one test, removed after it. */
export function testFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-services-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
