import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, freePortBlock, requirePorts, unreservePorts } from '../src/free-port.ts';
import { describePortHolder } from '../src/port-holder.ts';

/** A port that nobody holds, not even by having been handed out. */
async function anyPort(): Promise<number> {
  const port = await freePort();
  unreservePorts([port]);
  return port;
}

function listen(port: number, host: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, resolve);
  });
}

test('a free preferred port is taken as it is', async () => {
  const port = await anyPort();
  expect(await freePort(port)).toBe(port);
  await expect(requirePorts([port])).resolves.toBeUndefined();
});

test.each(['127.0.0.1', '0.0.0.0', '::1', '::'])(
  'a port taken on %s is passed over, naming its holder',
  async (host) => {
    const taken = await anyPort();
    await listen(taken, host);
    const lines: string[] = [];
    const port = await freePort(taken, (line) => lines.push(line));
    expect(port).toBeGreaterThan(taken);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^port ${taken} is taken by process ${process.pid} \\(.*node`));
  },
);

test('a port that must be free names its holder', async () => {
  const taken = await anyPort();
  await listen(taken, '127.0.0.1');
  await expect(requirePorts([taken])).rejects.toThrow(
    `LAPSE_PORT_TAKEN: port ${taken} is taken by process ${process.pid}`,
  );
  expect(await describePortHolder(taken)).toContain(`process ${process.pid}`);
});

test('a free port has no holder', async () => {
  expect(await describePortHolder(await freePort())).toBeUndefined();
});

test('a block moves on when any of its ports is taken', async () => {
  const base = await freePortBlock(undefined, [0, 5]);
  unreservePorts([base, base + 5]);
  expect(await freePortBlock(base, [0, 5])).toBe(base);
  unreservePorts([base, base + 5]);
  await listen(base + 5, '127.0.0.1');
  expect(await freePortBlock(base, [0, 5])).toBeGreaterThan(base);
});

test('two services that start at once never get the same port', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort(25_500)));
  expect(new Set(ports).size).toBe(ports.length);
});
