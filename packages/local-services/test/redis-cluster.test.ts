import { expect, onTestFinished, test } from 'vitest';
import { startRedisCluster } from '../src/index.ts';
import { exchange } from '../src/probe.ts';
import { testFolder } from './test-folder.ts';
import { waitUntil } from './wait-until.ts';

test('three nodes share the slots; a killed one comes back with its data and its slots; stop leaves none', async () => {
  const cluster = await startRedisCluster({ dir: testFolder(), log: () => {} });
  onTestFinished(() => cluster.stop());
  const ports = Object.values(cluster.ports);
  expect(cluster.url).toBe(`redis-cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`);
  const command = async (port: number | undefined, text: string) =>
    (await exchange(port ?? 0, `${text}\r\n`, (bytes) => bytes.includes('\r\n')))?.toString().trim();

  // Slot 8000 of 16384, so that of the second node.
  expect(await command(ports[0], 'SET {42}seat 1')).toBe(`-MOVED 8000 127.0.0.1:${ports[1]}`);
  expect(await command(ports[1], 'SET {42}seat 1')).toBe('+OK');
  cluster.kill('SIGKILL', 'redis-2');
  await waitUntil('it is down', () => cluster.state === 'down');
  expect(cluster.pids).toHaveLength(2);

  await cluster.start();
  await waitUntil('its slot serves', async () => (await command(ports[1], 'GET {42}seat')) === '$1\r\n1');
  await cluster.stop();
  expect(cluster.pids).toEqual([]);
});
