import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findOnPath } from '@lapse/local-services';

/** Where packages put one folder a version, whose `bin` is on nobody's PATH. */
const versionFolders = ['/usr/lib/postgresql', '/usr/local', '/usr', '/opt/homebrew/opt', '/usr/local/opt'];
const versionName = /^(?:\d+|(?:postgresql|pgsql)[@-]?\d*)$/;
const askTimeoutMs = 5_000;

export const postgresMissing =
  'PostgreSQL is not installed on this machine. To install: sudo apt-get install postgresql (Debian, Ubuntu), sudo dnf install postgresql-server (Fedora), brew install postgresql (macOS)';

/** The folder of `initdb` and `postgres`, of the newest version where there are several. */
export function findPostgres(): string | undefined {
  const folders = [...askPgConfig(), ...versionedFolders(), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))));
}

/** That of a client library alone names a folder without a server. */
function askPgConfig(): string[] {
  const command = findOnPath(['pg_config']);
  if (command === undefined) return [];
  try {
    return [execFileSync(command, ['--bindir'], { encoding: 'utf8', timeout: askTimeoutMs }).trim()];
  } catch {
    return [];
  }
}

function versionedFolders(): string[] {
  return versionFolders.flatMap((folder) => {
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => versionName.test(name)) : [];
    const newestFirst = names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    return newestFirst.map((name) => join(folder, name, 'bin'));
  });
}
