/** Starts Redis and MariaDB as whoever runs it, prints both URLs, and stops them. argv: data folder. */
import { join } from 'node:path';
import { startMariadb, startRedis } from '../../src/index.ts';

const [dir = ''] = process.argv.slice(2);
const log = (line: string) => void process.stderr.write(`${line}\n`);
const redis = await startRedis({ dir: join(dir, 'redis'), log });
const mariadb = await startMariadb({ dir: join(dir, 'mariadb'), database: 'lapse', log });
process.stdout.write(
  `${JSON.stringify({ redis: redis.url, mariadb: mariadb.url, uid: process.getuid?.() })}\n`,
);
await mariadb.stop();
await redis.stop();
process.stdout.write('stopped\n');
