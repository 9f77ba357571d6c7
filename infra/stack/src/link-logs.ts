import { existsSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { StackFolders } from './folders.ts';

/** Where each local service writes, seen from the data folder. */
export const serviceLogs = {
  'mariadb.log': 'mysql/mariadb.log',
  'redis.log': 'redis/redis.log',
  'namesrv.log': 'rocketmq/namesrv.log',
  'broker.log': 'rocketmq/broker.log',
  'broker-detail.log': 'rocketmq/broker-detail.log',
} as const;

/** One folder with every log: those of the services are links to where their own folders hold them. */
export function linkServiceLogs({ data, logs }: StackFolders): void {
  mkdirSync(logs, { recursive: true });
  for (const [name, target] of Object.entries(serviceLogs)) {
    const link = join(logs, name);
    if (existsSync(join(data, target)) && lstatSync(link, { throwIfNoEntry: false }) === undefined) {
      symlinkSync(join('..', target), link);
    }
  }
}
