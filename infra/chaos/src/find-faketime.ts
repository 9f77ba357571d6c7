import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where distributions put it, besides a folder named after the machine. */
const folders = ['/usr/lib/faketime', '/usr/lib64/faketime', '/usr/local/lib/faketime'];
const library = 'libfaketimeMT.so.1';

/** The library that makes one process's clock run wrong; undefined where it is not installed. */
export function findFaketime(): string | undefined {
  const byMachine = existsSync('/usr/lib')
    ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime'))
    : [];
  return [...folders, ...byMachine].map((folder) => join(folder, library)).find((file) => existsSync(file));
}

/** Environment of a process whose clock is off by so many seconds. Its timers run true. */
export function skewedEnv(file: string, seconds: number): Record<string, string> {
  return {
    LD_PRELOAD: file,
    FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}
