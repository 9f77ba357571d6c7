import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalService, findOnPath, findPortHolder, freePort } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { connect } from 'amqplib';

const run = promisify(execFile);
const readyTimeoutMs = 120_000;
const stopGraceMs = 5_000;
const epmdTriesMax = 20;
const epmdWaitMs = 100;

export interface PrivateRabbitmq {
  readonly url: string;
  readonly pids: readonly number[];
  readonly close: () => Promise<void>;
}

/** Debian's own script becomes the user rabbitmq, who cannot write here; what it calls does not. */
export function findRabbitmq(): string | undefined {
  return (
    findOnPath(['rabbitmq-server'], { PATH: '/usr/lib/rabbitmq/bin' }) ?? findOnPath(['rabbitmq-server'])
  );
}

/**
 * A RabbitMQ of the bench alone, with its defaults, on its own ports and folder; also its own epmd, the name server of
 * Erlang, which would else be shared with the machine's and outlive this process.
 */
export async function startRabbitmq(command: string, dir: string): Promise<PrivateRabbitmq> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const [port, distPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const service = createLocalService({
    name: 'RabbitMQ',
    ports: { amqp: port },
    programs: [
      {
        name: 'rabbitmq',
        command,
        args: [],
        dir,
        env: {
          PATH: process.env.PATH,
          HOME: dir,
          ERL_EPMD_PORT: String(epmdPort),
          ERL_EPMD_ADDRESS: '127.0.0.1',
          RABBITMQ_NODENAME: `bench-${process.pid}@localhost`,
          RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
          RABBITMQ_NODE_PORT: String(port),
          RABBITMQ_DIST_PORT: String(distPort),
          RABBITMQ_CONF_ENV_FILE: '/dev/null',
          RABBITMQ_CONFIG_FILE: join(dir, 'none'),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
          RABBITMQ_MNESIA_BASE: join(dir, 'mnesia'),
          RABBITMQ_LOG_BASE: join(dir, 'log'),
        },
        ports: [port],
        ready: () => answers(url),
        readyTimeoutMs,
        stopGraceMs,
      },
    ],
  });
  await service.start();
  const pid = await findPortHolder(port);
  return {
    url,
    pids: pid === undefined ? [] : [pid],
    close: async () => {
      service.kill('SIGKILL');
      await service.stop();
      await endEpmd(epmdPort);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** It refuses until it has seen that its node is gone. */
async function endEpmd(port: number): Promise<void> {
  const env = { ...process.env, ERL_EPMD_PORT: String(port) };
  for (let tries = 0; tries < epmdTriesMax; tries += 1) {
    const { stdout } = await run('epmd', ['-kill'], { env }).catch(() => ({ stdout: '' }));
    if (stdout.includes('Killed')) return;
    await sleep(epmdWaitMs);
  }
}

async function answers(url: string): Promise<boolean> {
  const connection = await connect(url);
  await connection.close();
  return true;
}
