import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type RedisService, type ServiceExit, startRedis, supervise } from '../src/index.ts';
import { exchange } from '../src/probe.ts';
import { identifyProcess } from '../src/process-identity.ts';
import { testFolder } from './test-folder.ts';
import { waitUntil } from './wait-until.ts';

const log = () => {};

async function start(dir = testFolder(), port?: number): Promise<RedisService> {
  const redis = await startRedis({ dir, ...(port !== undefined && { port }), databases: 4096, log });
  onTestFinished(() => redis.stop());
  return redis;
}

/** One command over a socket of its own. */
async function command(redis: RedisService, text: string): Promise<string | undefined> {
  const answer = await exchange(redis.ports.redis ?? 0, `${text}\r\n`, (bytes) => bytes.includes('\r\n'));
  return answer?.toString('latin1').trim();
}

test('a killed Redis comes back on the same port with every confirmed write', async () => {
  const redis = await start();
  expect(redis.url).toBe(`redis://127.0.0.1:${redis.ports.redis}`);
  expect(await command(redis, 'SET seat 42')).toBe('+OK');

  const exits: ServiceExit[] = [];
  redis.onExit((exit) => exits.push(exit));
  redis.kill('SIGKILL');
  await waitUntil('it is down', () => redis.state === 'down');
  expect(exits).toMatchObject([{ program: 'redis', signal: 'SIGKILL', expected: false }]);
  expect(redis.pids).toEqual([]);

  await redis.start();
  expect(redis.state).toBe('running');
  expect(await command(redis, 'GET seat')).toBe('$2\r\n42');
});

test('stop leaves no process, and says that the exit was expected', async () => {
  const redis = await start();
  const [pid = 0] = redis.pids;
  const exits: ServiceExit[] = [];
  redis.onExit((exit) => exits.push(exit));
  await Promise.all([redis.stop(), redis.stop()]);
  expect(redis.state).toBe('stopped');
  expect(identifyProcess(pid)).toBeUndefined();
  expect(exits).toMatchObject([{ code: 0, expected: true }]);
});

test('a frozen Redis answers nothing until it is thawed, and can be stopped while frozen', async () => {
  const redis = await start();
  redis.kill('SIGSTOP');
  expect(await command(redis, 'PING')).toBeUndefined();
  redis.kill('SIGCONT');
  expect(await command(redis, 'PING')).toBe('+PONG');
  redis.kill('SIGSTOP');
  await redis.stop();
  expect(redis.pids).toEqual([]);
});

test('a supervised Redis is started again when it dies by itself, and not when it was stopped', async () => {
  const redis = await start();
  const events: string[] = [];
  const supervisor = supervise(redis, {
    onDown: (service, exit) => events.push(`${service.name} down: ${exit.signal}`),
    onUp: (service, attempt) => events.push(`${service.name} up, attempt ${attempt}`),
    backOffMinMs: 10,
  });
  const [first] = redis.pids;
  redis.kill('SIGKILL');
  await waitUntil('it runs again', () => events.length === 2);
  expect(events).toEqual(['Redis down: SIGKILL', 'Redis up, attempt 1']);
  expect(redis.pids[0]).not.toBe(first);

  redis.kill('SIGKILL');
  await waitUntil('and again', () => events.length === 4);
  expect(events[3]).toBe('Redis up, attempt 2');

  await redis.stop();
  await sleep(100);
  expect(events).toHaveLength(4);
  expect(redis.state).toBe('stopped');
  supervisor.stop();
});

test('a supervised Redis that cannot start again is given up on after the attempts allowed, and can be started later', async () => {
  const redis = await start();
  const failures: boolean[] = [];
  const server = createServer();
  onTestFinished(() => void server.close());
  supervise(redis, {
    onDown: () => server.listen(redis.ports.redis, '127.0.0.1'),
    onRestartFailed: (_service, _error, last) => failures.push(last),
    backOffMinMs: 50,
    attemptsMax: 3,
  });
  redis.kill('SIGKILL');
  await waitUntil('it is given up', () => failures.length === 3);
  expect(failures).toEqual([false, false, true]);
  server.close();
  await redis.start();
  expect(await command(redis, 'PING')).toBe('+PONG');
});

test('a supervised Redis that keeps dying is given up on, with what its log said', async () => {
  const redis = await start();
  let ups = 0;
  const failures: string[] = [];
  supervise(redis, {
    onUp: () => {
      ups += 1;
      redis.kill('SIGKILL');
    },
    onRestartFailed: (_service, error, last) => failures.push(`${last} ${error}`),
    backOffMinMs: 5,
    attemptsMax: 3,
  });
  redis.kill('SIGKILL');
  await waitUntil('it is given up', () => failures.length > 0);
  expect(ups).toBe(3);
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatch(
    /^true .*Redis starts but does not last: redis exited \(signal SIGKILL\) again/,
  );
  expect(redis.state).toBe('down');
});

test('a folder whose Redis runs is refused to a second start', async () => {
  const dir = testFolder();
  const redis = await start(dir);
  await expect(startRedis({ dir, log })).rejects.toThrow(
    `LAPSE_FOLDER_LOCKED: ${dir} is in use: redis (pid ${redis.pids[0]})`,
  );
});

test('a restart on a port that somebody else took meanwhile names the holder', async () => {
  const redis = await start();
  await redis.stop();
  const other = await start(testFolder(), redis.ports.redis);
  expect(other.ports.redis).toBe(redis.ports.redis);
  await expect(redis.start()).rejects.toThrow(
    new RegExp(
      `LAPSE_PORT_TAKEN: port ${redis.ports.redis} is taken by process ${other.pids[0]} \\(.*redis-server`,
    ),
  );
});

test('a start that fails says why, from the log, and leaves nothing running', async () => {
  const dir = testFolder();
  const attempt = startRedis({ dir, args: ['--no-such-setting', '1'], log });
  await expect(attempt).rejects.toThrow(
    /LAPSE_SERVICE_START_FAILED: Redis did not start: redis exited \(code 1\).*\nLog: .*redis\.log, last lines:\n(.*\n)*.*no-such-setting/,
  );
  // The folder is free again.
  await start(dir);
});

test('a stop cuts a start short', async () => {
  const redis = await start();
  await redis.stop();
  const starting = redis.start();
  const outcome = expect(starting).rejects.toThrow('LAPSE_SERVICE_STOPPED');
  await redis.stop();
  await outcome;
  expect(redis.state).toBe('stopped');
});

test('has as many databases as were asked for', async () => {
  const redis = await start();
  expect(await command(redis, 'SELECT 4095')).toBe('+OK');
  expect(await command(redis, 'SELECT 4096')).toContain('out of range');
});
