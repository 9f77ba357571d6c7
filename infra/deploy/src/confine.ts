import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** `node` in the official images. */
const imageUserId = 1000;
/** No image has it: whoever wants to write to the home or temporary folder is found out. */
const nowhere = '/nonexistent';
const othersMayEnter = 0o001;

/**
 * The user that a tree is started as: that of the images, where this process may become somebody else (root) and that
 * user can reach Node's program; else undefined, the user of this process.
 */
export const imageUser =
  process.getuid?.() === 0 && isOpenToAll(dirname(process.execPath)) ? imageUserId : undefined;

function isOpenToAll(folder: string): boolean {
  const open = (statSync(folder).mode & othersMayEnter) !== 0;
  return open && (folder === dirname(folder) || isOpenToAll(dirname(folder)));
}

/** An empty folder, to start in, that the image's user cannot write to. */
export function makeEmptyFolder(dir: string): string {
  const empty = join(dir, 'empty');
  mkdirSync(empty, { mode: 0o555 });
  return empty;
}

/**
 * Arguments of Node that refuse every write to a file, as a read-only root file system does, but for these folders.
 * Node 20 calls it experimental.
 */
export function readOnlyArgs(writable: readonly string[]): string[] {
  const flags = process.allowedNodeEnvironmentFlags;
  return [
    flags.has('--permission') ? '--permission' : '--experimental-permission',
    // Node 25 refuses the network too, unless told.
    ...(flags.has('--allow-net') ? ['--allow-net'] : []),
    ...['--allow-fs-read=*', '--allow-addons', '--no-warnings'],
    ...writable.map((folder) => `--allow-fs-write=${folder}/*`),
  ];
}

/** What a container has of an environment, and these settings. */
export function confinedEnv(settings: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: nowhere, TMPDIR: nowhere, NODE_ENV: 'production' },
    ...settings,
  };
}
