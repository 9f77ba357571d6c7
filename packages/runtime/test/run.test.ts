import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';

const fixture = fileURLToPath(new URL('./fixtures/process.ts', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Running {
  readonly child: ChildProcess;
  /** Lines of standard output so far; JSON lines are the log. */
  readonly lines: string[];
  readonly stderr: () => string;
  readonly ready: () => Promise<void>;
  /** Exit code, or the signal that killed it. */
  readonly exit: Promise<number | string | null>;
  readonly closings: () => string[];
  readonly messages: () => string[];
}

function start(scenario: string, env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(
    process.execPath,
    ['--conditions=@lapse/source', '--import', 'tsx/esm', fixture, scenario],
    { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  children.push(child);
  let stdout = '';
  let stderr = '';
  const lines: string[] = [];
  child.stdout?.on('data', (data) => {
    stdout += data;
    lines.splice(0, lines.length, ...stdout.split('\n').filter(Boolean));
  });
  child.stderr?.on('data', (data) => {
    stderr += data;
  });
  const exit = new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return {
    child,
    lines,
    stderr: () => stderr,
    ready: async () => {
      await vi.waitUntil(() => lines.includes('ready') || child.exitCode !== null, { timeout: 20_000 });
      expect(lines, stderr).toContain('ready');
    },
    exit,
    closings: () => lines.filter((line) => line.startsWith('closing ')).map((line) => line.slice(8)),
    messages: () => lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).msg),
  };
}

describe('stopping', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s closes the last opened first, and exits 0',
    async (signal) => {
      const running = start('three parts');
      await running.ready();
      running.child.kill(signal);
      expect(await running.exit).toBe(0);
      expect(running.closings()).toEqual(['c', 'b', 'a']);
      expect(running.messages()).toEqual(['started', 'stopping', 'stopped']);
    },
  );

  test('a part that hangs and one that fails keep no other from closing, nor the process from exiting 0', async () => {
    const running = start('bad closers');
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.closings()).toEqual(['failing', 'hanging', 'a']);
    expect(running.lines.join()).toContain('closing hanging did not end within 300 ms');
    expect(running.lines.join()).toContain('shutdown rejected');
  });

  test('parts are told before the first one closes, so that readiness ends while the rest drains', async () => {
    const running = start('announced');
    await running.ready();
    running.child.kill('SIGTERM');
    await running.exit;
    const told = running.lines.filter((line) => /^(?:told|closing)/.test(line));
    expect(told).toEqual(['told ops', 'closing consumer', 'closing ops']);
  });

  test('the whole shutdown is bounded: beyond its time the process exits 1 and names what is open', async () => {
    const running = start('too slow');
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(1);
    const last = JSON.parse(running.lines.at(-1) ?? '{}');
    expect(last).toMatchObject({ msg: 'stopping took too long; exiting', open: ['a', 'b'] });
  });

  test('a second signal exits at once, with 1', async () => {
    const running = start('slow');
    await running.ready();
    running.child.kill('SIGTERM');
    await vi.waitUntil(() => running.closings().length === 1);
    // Until it counts as a second one, a signal changes nothing.
    const again = setInterval(() => running.child.kill('SIGINT'), 50);
    expect(await running.exit).toBe(1);
    clearInterval(again);
    expect(running.messages()).toContain('second signal; exiting at once');
  });

  test('Ctrl-C that comes twice, from the terminal and from the parent, is one request', async () => {
    const running = start('unhurried');
    await running.ready();
    running.child.kill('SIGINT');
    await vi.waitUntil(() => running.closings().length === 1);
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.closings()).toEqual(['unhurried', 'a']);
  });

  test('connection errors that a client raises after its shutdown are logged and change nothing', async () => {
    const running = start('noisy client');
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.closings()).toEqual(['client', 'a']);
    expect(running.messages().filter((text) => text.includes('ignored'))).toHaveLength(2);
  });

  test('any other error while stopping lets the rest close, but exits 1', async () => {
    const running = start('bug while stopping');
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(1);
    expect(running.closings()).toEqual(['buggy', 'a']);
  });
});

describe('starting', () => {
  test('a failed start closes what it had opened, logs the causes, and exits 1', async () => {
    const running = start('failed start');
    expect(await running.exit).toBe(1);
    expect(running.closings()).toEqual(['b', 'a']);
    expect(running.lines.join()).toContain('no such database');
    expect(running.lines.join()).toContain('ECONNREFUSED');
  });

  test('a signal during the start closes also what the start opens after it', async () => {
    const running = start('start at work');
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.closings().sort()).toEqual(['early', 'late']);
  });

  test('a start that hangs can be stopped', async () => {
    const running = start('hanging start');
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.closings()).toEqual(['early']);
  });
});

describe('errors that nobody caught', () => {
  test.each(['uncaught', 'unhandled'])('%s: logged, everything closed, exit 1', async (scenario) => {
    const running = start(scenario);
    expect(await running.exit).toBe(1);
    expect(running.closings()).toEqual(['a']);
    expect(running.messages()).toContain('an error that nobody caught');
  });
});

describe('startProcess', () => {
  test('reads the named groups and those of every process', async () => {
    const running = start('settings', { LAPSE_MYSQL_URL: 'mysql://u:p@h/d', LAPSE_MYSQL_POOL_MAX: '3' });
    await running.ready();
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    expect(running.closings()).toEqual(['3 info 127.0.0.1']);
  });

  test('unusable settings are listed on standard error in plain lines, and it exits 1 without starting', async () => {
    const running = start('settings', { LAPSE_OPS_PORT: 'x', LAPSE_LOGLEVEL: 'debug' });
    expect(await running.exit).toBe(1);
    expect(running.lines).toEqual([]);
    expect(running.stderr()).toBe(
      [
        'settings did not start (LAPSE_CONFIG_INVALID). 3 settings are not usable:',
        '  LAPSE_OPS_PORT must be a whole number from 0 to 65535; it is "x". Example: 9090',
        '  LAPSE_MYSQL_URL is missing. Example: mysql://lapse:password@127.0.0.1:3306/lapse',
        '  LAPSE_LOGLEVEL is not a setting; did you mean LAPSE_LOG_LEVEL?',
        '',
      ].join('\n'),
    );
  });
});
