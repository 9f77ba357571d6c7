import { spawnSync } from 'node:child_process';

/** The processes that this one has started and that are still there: for a test that nothing is left behind. */
export function childPids(): string[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(process.pid)], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}
