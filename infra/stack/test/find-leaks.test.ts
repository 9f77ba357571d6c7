import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { countConnections, findLeakedProcesses, runMarker } from '../src/find-leaks.ts';
import { countLeaks } from '../src/leak-tallies.ts';

/** Elsewhere a process's environment cannot be read without rights. */
const onLinux = process.platform === 'linux';

test.runIf(onLinux)(
  'a process of the run that outlives it is found, fails the run, and is killed',
  async () => {
    const runId = randomUUID();
    const child = spawn('sleep', ['60'], { env: { ...process.env, [runMarker]: runId } });
    await once(child, 'spawn');
    expect(findLeakedProcesses(runId).map(({ pid }) => pid)).toEqual([child.pid]);
    expect(findLeakedProcesses(randomUUID())).toEqual([]);

    const exit = once(child, 'exit');
    const [tally] = await countLeaks(runId, {});
    expect(tally).toMatchObject({ passed: 0, failed: 1 });
    expect(tally?.faults[0]).toContain('sleep 60');
    expect((await exit)[1]).toBe('SIGKILL');
  },
);

test.runIf(onLinux)('a connection that is left open fails the run; a closed one does not', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  await once(server, 'connection');
  expect(countConnections(port)).toBe(1);
  expect((await countLeaks(randomUUID(), { Redis: port }))[0]).toMatchObject({
    failed: 1,
    faults: ['1 connections to Redis are left open'],
  });

  client.destroy();
  server.close();
  expect((await countLeaks(randomUUID(), { Redis: port }))[0]).toMatchObject({ passed: 1, failed: 0 });
});
