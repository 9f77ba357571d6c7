import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@lapse/testing';
import type { ProcessName } from './effects.ts';

/** The end of the output kept for a failure's message. */
const outputCharactersMax = 200_000;
const readyTimeoutMs = 60_000;

export interface RunningProcess {
  readonly output: () => string;
  readonly isAlive: () => boolean;
  readonly exited: Promise<NodeJS.Signals | null>;
  readonly kill: () => Promise<void>;
  /** Let it die when it passes one of these crash points from now on. It was started with LAPSE_CRASH_AT. */
  readonly arm: (points: readonly string[]) => Promise<void>;
}

/** Start an app's compiled `main.js`; resolves once it has written that it started. */
export async function spawnProcess(
  name: ProcessName | 'payment-simulator',
  env: Readonly<Record<string, string>>,
): Promise<RunningProcess> {
  const main = fileURLToPath(new URL(`../../../apps/${name}/dist/main.js`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ['--enable-source-maps', main], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  let alive = true;
  const append = (chunk: unknown): void => {
    text = (text + String(chunk)).slice(-outputCharactersMax);
  };
  child.stdout?.on('data', append);
  child.stderr?.on('data', append);
  const exited = once(child, 'close').then(([, signal]) => {
    alive = false;
    return signal as NodeJS.Signals | null;
  });
  await waitUntil(() => text.includes('"started"') || !alive, {
    what: `${name} to start`,
    timeoutMs: readyTimeoutMs,
  });
  return {
    output: () => text,
    isAlive: () => alive,
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    arm: async (points) => {
      const armed = once(child, 'message');
      child.send(points.join(','));
      await armed;
    },
  };
}
