import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalService, findOnPath, freePort } from '@lapse/local-services';
import { Client } from 'pg';

const run = promisify(execFile);
const initTimeoutMs = 180_000;
const readyTimeoutMs = 60_000;
const stopGraceMs = 10_000;
/** On disk like any folder of the run, and open to every user. */
const openFolder = '/var/tmp';

export interface PrivatePostgres {
  /** Of the server's own database, as its superuser without a password: it listens on the loopback only. */
  readonly url: string;
  /** The first process. All others of the server are its children. */
  readonly pids: readonly number[];
  readonly close: () => Promise<void>;
}

/**
 * A PostgreSQL of the bench alone, with the defaults of `initdb` (fsync and synchronous_commit are on), on its own port
 * and socket. It refuses to run as root: then it runs as `postgres`, or as `nobody`.
 * @param bin the folder of its programs.
 */
export async function startPostgres(bin: string, wantedDir: string): Promise<PrivatePostgres> {
  const owner = await findOwner();
  const dir = makeFolder(wantedDir, owner);
  const dataDir = join(dir, 'data');
  const [initdb, ...initArgs] = owned(owner, join(bin, 'initdb'), [
    `--pgdata=${dataDir}`,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--no-locale',
  ]);
  await run(initdb, initArgs, { cwd: dir, timeout: initTimeoutMs, env: serverEnv(dir) });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const [command, ...args] = owned(owner, join(bin, 'postgres'), [
    ...['-D', dataDir, '-p', String(port), '-k', dir],
    ...['-c', 'listen_addresses=127.0.0.1'],
  ]);
  const service = createLocalService({
    name: 'PostgreSQL',
    ports: { postgres: port },
    programs: [
      {
        name: 'postgres',
        command,
        args,
        dir,
        env: serverEnv(dir),
        ports: [port],
        ready: () => answers(url),
        readyTimeoutMs,
        stopGraceMs,
      },
    ],
  });
  await service.start();
  return {
    url,
    pids: service.pids,
    close: async () => {
      // Ends its sessions; SIGTERM would wait for them.
      service.kill('SIGINT');
      await service.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
  readonly setpriv: string;
}

/** Whose the server is where this process is root's. */
async function findOwner(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const setpriv = findOnPath(['setpriv']);
  if (setpriv === undefined) throw new Error('it does not run as root, and setpriv (util-linux) is missing');
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => readId(flag, user)));
    if (uid !== undefined && gid !== undefined) return { uid, gid, setpriv };
  }
  throw new Error('it does not run as root, and there is no user postgres or nobody');
}

async function readId(flag: string, user: string): Promise<number | undefined> {
  const { stdout } = await run('id', [flag, user]).catch(() => ({ stdout: '' }));
  return stdout.trim() === '' ? undefined : Number(stdout);
}

/** Another user forgets what its parent's death should send: it is said again. */
function owned(owner: Owner | undefined, command: string, args: readonly string[]): [string, ...string[]] {
  if (owner === undefined) return [command, ...args];
  const become = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--pdeathsig', 'TERM'];
  return [owner.setpriv, ...become, '--', command, ...args];
}

/** The wanted folder, but another one where its owner cannot come through those above it. */
function makeFolder(wanted: string, owner: Owner | undefined): string {
  rmSync(wanted, { recursive: true, force: true });
  mkdirSync(wanted, { recursive: true });
  if (owner === undefined) return wanted;
  const dir = isOpen(wanted) ? wanted : mkdtempSync(join(openFolder, 'lapse-postgres-'));
  chownSync(dir, owner.uid, owner.gid);
  return dir;
}

const throughForAll = 0o1;

function isOpen(dir: string): boolean {
  const isThrough = (statSync(dir).mode & throughForAll) !== 0;
  return isThrough && (dir === dirname(dir) || isOpen(dirname(dir)));
}

function serverEnv(dir: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: dir, LC_ALL: 'C' };
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString });
  try {
    await client.connect();
    return true;
  } finally {
    await client.end();
  }
}
