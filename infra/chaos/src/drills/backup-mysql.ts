import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { findOnPath } from '@lapse/local-services';

/** One consistent moment of the database, without a lock that a sale would feel. @returns its size in bytes. */
export async function backUpMysql(mysqlUrl: string, file: string): Promise<number> {
  const { command, args, database } = client(mysqlUrl, ['mariadb-dump', 'mysqldump']);
  // Ids are bytes: as text they would depend on a character set.
  const child = spawn(command, [...args, '--single-transaction', '--hex-blob', database], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.all([pipeline(child.stdout, createWriteStream(file)), ended(child)]);
  return statSync(file).size;
}

/** Put every table back to what the backup has. */
export async function restoreMysql(mysqlUrl: string, file: string): Promise<void> {
  const { command, args, database } = client(mysqlUrl, ['mariadb', 'mysql']);
  const child = spawn(command, [...args, database], { stdio: ['pipe', 'inherit', 'inherit'] });
  await Promise.all([pipeline(createReadStream(file), child.stdin), ended(child)]);
}

function client(mysqlUrl: string, programs: readonly string[]) {
  const command = findOnPath(programs);
  if (command === undefined) {
    throw new Error(
      `LAPSE_DRILL_PROGRAM: none of ${programs.join(', ')} is on the PATH; install mariadb-client.`,
    );
  }
  const { hostname, port, username, pathname } = new URL(mysqlUrl);
  const args = ['--no-defaults', `--host=${hostname}`, `--port=${port}`, `--user=${username}`];
  return { command, args, database: pathname.slice(1) };
}

async function ended(child: ReturnType<typeof spawn>): Promise<void> {
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`LAPSE_DRILL_PROGRAM: ${child.spawnfile} ended with code ${code}.`);
}
