import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { identifyProcess, isAlive, type ProcessIdentity } from '../src/process-identity.ts';
import { findInUse, reapLeftovers, recordProcess } from '../src/process-registry.ts';
import { spawnOwned } from '../src/spawn-owned.ts';
import { runProgram } from './run-program.ts';
import { testFolder } from './test-folder.ts';
import { waitUntil } from './wait-until.ts';

const hasSetpriv = process.platform === 'linux' && existsSync('/usr/bin/setpriv');

/** A process that nothing of ours started, ended after the test. */
async function bystander(): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const identity = identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error('the bystander did not start');
  return identity;
}

async function startParent(dir: string, mode: 'bound' | 'free') {
  const parent = runProgram('hard-killed-parent.ts', [dir, mode]);
  const child: ProcessIdentity = JSON.parse((await parent.nextLine()) ?? 'null');
  onTestFinished(() => void (isAlive(child) && process.kill(child.pid, 'SIGKILL')));
  return { parent, child };
}

function commandOf({ pid }: Pick<ProcessIdentity, 'pid'>): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}

describe('children of a parent that is killed hard', () => {
  test.runIf(hasSetpriv)('die with it, where the kernel can see to that', async () => {
    const { parent, child } = await startParent(testFolder(), 'bound');
    // Until then it is still setpriv, which may not have asked the kernel yet.
    await waitUntil('the child is itself', () => commandOf(child) === 'sleep');
    await parent.killHard();
    await waitUntil('the child is gone', () => !isAlive(child));
  });

  test('are found and stopped by the next start where it cannot', async () => {
    const dir = testFolder();
    const { parent, child } = await startParent(join(dir, 'service'), 'free');
    await parent.killHard();
    expect(isAlive(child)).toBe(true);

    const lines: string[] = [];
    const reaped = await reapLeftovers(dir, { log: (line) => lines.push(line) });

    expect(reaped.map((entry) => entry.pid)).toEqual([child.pid]);
    expect(isAlive(child)).toBe(false);
    expect(lines).toEqual([`stopping sleeper (pid ${child.pid}), left by an earlier run that was killed`]);
    expect(await reapLeftovers(dir)).toEqual([]);
  });

  test('are left alone while that parent lives', async () => {
    const dir = testFolder();
    const { child } = await startParent(dir, 'free');
    expect(await reapLeftovers(dir)).toEqual([]);
    expect(isAlive(child)).toBe(true);
    expect(findInUse(dir).map((entry) => entry.pid)).toEqual([child.pid]);
  });

  test('a frozen one is stopped as well', async () => {
    const dir = testFolder();
    const { parent, child } = await startParent(dir, 'free');
    process.kill(child.pid, 'SIGSTOP');
    await parent.killHard();
    await reapLeftovers(dir);
    expect(isAlive(child)).toBe(false);
  });
});

describe('the registry', () => {
  const deadParent = { pid: 4_000_000, startedAt: 'long ago' };

  test('never leads to a process that took over the number of a dead child', async () => {
    const dir = testFolder();
    const other = await bystander();
    const entry = { name: 'redis', pid: other.pid, startedAt: 'another time', parent: deadParent };
    writeFileSync(join(dir, 'processes.json'), JSON.stringify([entry]));
    expect(await reapLeftovers(dir)).toEqual([]);
    expect(isAlive(other)).toBe(true);

    // The control: with the right start time the same entry is followed.
    writeFileSync(join(dir, 'processes.json'), JSON.stringify([{ ...entry, startedAt: other.startedAt }]));
    expect(await reapLeftovers(dir)).toHaveLength(1);
    expect(isAlive(other)).toBe(false);
  });

  test.each([
    '',
    '{',
    '[{"pid":1}]',
    '[{"pid":-1,"startedAt":"x","name":"x","parent":{"pid":2,"startedAt":"x"}}]',
  ])('a damaged file (%j) stops nothing and does not stand in the way', async (text) => {
    const dir = testFolder();
    writeFileSync(join(dir, 'processes.json'), text);
    expect(await reapLeftovers(dir)).toEqual([]);
  });

  test('forgets a child once it has exited', async () => {
    const dir = testFolder();
    const child = spawnOwned({ name: 'short', command: 'sh', args: ['-c', 'echo hello; sleep 600'], dir });
    const registered = () => JSON.parse(readFileSync(join(dir, 'processes.json'), 'utf8'));
    expect(registered()).toMatchObject([{ name: 'short', pid: child.pid }]);
    await waitUntil('its output', () => child.logTail() === 'hello');
    expect(await child.stop(5_000)).toEqual({ code: null, signal: 'SIGTERM' });
    expect(registered()).toEqual([]);
  });

  test('counts a zombie as dead', async () => {
    // The shell is replaced by a sleep that never collects the child it inherited, which ends only after that: a shell
    // that is still there would collect it.
    const script = 'exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 600 3<&-';
    const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line).trim());
    const shell = { pid: parent.pid ?? 0 };
    await waitUntil('the shell is a sleep', () => commandOf(shell) === 'sleep');
    parent.stdin.end();
    await waitUntil('it is a zombie', () => identifyProcess(pid) === undefined);
    expect(() => process.kill(pid, 0)).not.toThrow();
  });
});

describe('stopping a child', () => {
  test('one that ignores SIGTERM is killed after the grace time, with what it started', async () => {
    const dir = testFolder();
    const script = 'trap "" TERM; sleep 600 & echo $!; wait; wait';
    const child = spawnOwned({ name: 'stubborn', command: 'sh', args: ['-c', script], dir });
    await waitUntil('its output', () => child.logTail() !== '');
    const grandchild = identifyProcess(Number(child.logTail()));
    expect(await child.stop(300)).toEqual({ code: null, signal: 'SIGKILL' });
    await waitUntil('its child is gone', () => grandchild === undefined || !isAlive(grandchild));
  });

  test('a program that does not exist reads as exit 127 with its reason', async () => {
    const child = spawnOwned({
      name: 'absent',
      command: '/nowhere/program',
      args: [],
      dir: testFolder(),
      dieWithParent: false,
    });
    expect((await child.exit).code).toBe(127);
    expect(child.logTail()).toContain('ENOENT');
  });

  test('a registered process is remembered once, under its newest name', () => {
    const dir = testFolder();
    const self = identifyProcess(process.pid);
    if (self === undefined) throw new Error('no identity');
    recordProcess(dir, 'one', self);
    recordProcess(dir, 'two', self);
    expect(findInUse(dir).map((entry) => entry.name)).toEqual(['two']);
  });
});
