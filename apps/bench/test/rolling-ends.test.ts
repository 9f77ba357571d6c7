import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { endMember, type RollingParts } from '../src/rolling/processes.ts';
import { watchEnds } from '../src/rolling/watch-ends.ts';
import { type RunningPrograms, startPrograms } from '../src/start-programs.ts';

/** A process that ends with this code when it is told to. */
async function startEnding(code: number): Promise<RunningPrograms> {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-rolling-'));
  const file = join(dir, 'program.mjs');
  writeFileSync(
    file,
    `process.on('SIGTERM', () => process.exit(${code})); setInterval(() => {}, 1_000); console.log('ready');`,
  );
  const programs = await startPrograms([{ name: 'closer', file, env: {}, readyText: 'ready' }], dir);
  onTestFinished(async () => {
    await programs.kill();
    rmSync(dir, { recursive: true });
  });
  return programs;
}

const end = (programs: RunningPrograms) =>
  endMember({ app: 'closer', programs, port: 1 }, { balancer: { backends: [] } } as unknown as RollingParts);

test('a process that hands everything back is timed; one that says it did not has no time', async () => {
  expect(await end(await startEnding(0))).toBeGreaterThan(0);
  await expect(end(await startEnding(1))).rejects.toThrow('closer ended with exit code 1');
});

test('a process that ends though nobody asked it to spoils the run, one that was asked to does not', async () => {
  const [asked, unasked] = [await startEnding(0), await startEnding(0)];
  const { crashed, watch } = watchEnds();
  watch(asked, () => true);
  watch(unasked, () => false);
  await end(asked);
  expect(await Promise.race([crashed, sleep(50, 'goes on')])).toBe('goes on');
  await end(unasked);
  await expect(crashed).rejects.toMatchObject({ code: 'LAPSE_BENCH_PROGRAM' });
});
