import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findDatabaseServer } from './find-programs.ts';
import { freePort } from './free-port.ts';
import { initializeDatabase, temporaryFolder } from './initialize-database.ts';
import { createLocalService, type LocalService, startUntil } from './local-service.ts';
import { prepareFolder } from './prepare-folder.ts';
import { exchange } from './probe.ts';
import { programMissing } from './program-missing.ts';

export interface MariadbOptions {
  /** Data, log and `processes.json`; for this service alone. */
  readonly dir: string;
  /** Preferred; the next free one when it is taken. Any free one by default. */
  readonly port?: number;
  /** Created when absent, and named in the URL. Letters, digits and underscores. */
  readonly database?: string;
  /** Further arguments of the server, which win over the ones set here. */
  readonly args?: readonly string[];
  /** Cuts the start short: what runs by then is stopped, and the start rejects. */
  readonly signal?: AbortSignal;
  readonly log: (line: string) => void;
}

export interface MariadbService extends LocalService {
  /** As root without a password: the server listens on the loopback only. */
  readonly url: string;
}

/** Linux refuses a longer path of a Unix socket; macOS is stricter still. */
const socketPathMax = 100;

/**
 * A private MariaDB, or MySQL 8 where there is only that, with its own data folder. Every commit is
 * on disk before its answer, so a killed server loses nothing that was confirmed.
 */
export async function startMariadb(options: MariadbOptions): Promise<MariadbService> {
  const server = await findDatabaseServer();
  if (server === undefined) throw programMissing('mariadb');
  const dir = await prepareFolder(options.dir, options.log);
  const dataDir = await initializeDatabase(server, dir, options.log);
  const port = await freePort(options.port, options.log);
  const initFile = writeInitFile(dir, options.database);
  const service = createLocalService({
    name: server.flavour === 'mariadb' ? 'MariaDB' : 'MySQL',
    ports: { mysql: port },
    programs: [
      {
        name: 'mariadb',
        command: server.command,
        args: [
          ...serverArgs(dir, dataDir, port, initFile),
          ...(server.flavour === 'mysql' ? ['--mysqlx=OFF', '--skip-log-bin'] : []),
          ...(options.args ?? []),
        ],
        dir,
        ports: [port],
        ready: () => greets(port),
        readyTimeoutMs: 90_000,
        stopGraceMs: 60_000,
        ...(server.flavour === 'mysql' && { hint: appArmorHint }),
      },
    ],
  });
  await startUntil(service, options.signal);
  return Object.assign(service, {
    url: `mysql://root@127.0.0.1:${port}${options.database ? `/${options.database}` : ''}`,
  });
}

const appArmorHint =
  "On Ubuntu, AppArmor keeps MySQL's server inside /var/lib/mysql; installing mariadb-server instead helps.";

function serverArgs(dir: string, dataDir: string, port: number, initFile: string): string[] {
  return [
    // First, or the server reads the machine's own configuration.
    '--no-defaults',
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    `--datadir=${dataDir}`,
    `--tmpdir=${temporaryFolder(dir)}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${socketPath(dir)}`,
    `--pid-file=${join(dir, 'mariadb.pid')}`,
    `--init-file=${initFile}`,
    '--innodb-flush-log-at-trx-commit=1',
    '--innodb-buffer-pool-size=256M',
    '--max-connections=400',
    '--character-set-server=utf8mb4',
  ];
}

/** Runs at every start, so it only adds what is absent. MySQL makes root for the name "localhost" alone. */
function writeInitFile(dir: string, database: string | undefined): string {
  if (database !== undefined && !/^\w{1,64}$/.test(database))
    throw new TypeError(`database name: ${database}`);
  const file = join(dir, 'init.sql');
  writeFileSync(
    file,
    [
      "CREATE USER IF NOT EXISTS 'root'@'127.0.0.1';",
      "GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;",
      ...(database === undefined ? [] : [`CREATE DATABASE IF NOT EXISTS ${database} CHARACTER SET utf8mb4;`]),
      '',
    ].join('\n'),
  );
  return file;
}

function socketPath(dir: string): string {
  const path = join(dir, 'mariadb.sock');
  if (path.length <= socketPathMax) return path;
  return join(tmpdir(), `lapse-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}.sock`);
}

/** The server speaks first: protocol version 10 in the fifth byte. It greets only once it serves. */
async function greets(port: number): Promise<boolean> {
  const greeting = await exchange(port, undefined, (bytes) => bytes.length >= 5);
  return greeting?.[4] === 10;
}
