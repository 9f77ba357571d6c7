import { readdirSync, readFileSync } from 'node:fs';

/** Set for everything that a test run starts, so that what outlives it is found, whoever its parent is now. */
export const runMarker = 'LAPSE_TEST_RUN';

export interface LeakedProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * Processes that carry this run's marker in their environment. Linux only: elsewhere there is no
 * way to read it that needs no rights, and the list is empty.
 */
export function findLeakedProcesses(runId: string): LeakedProcess[] {
  if (process.platform !== 'linux') return [];
  const wanted = `${runMarker}=${runId}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(wanted))
    .map((pid) => ({ pid: Number(pid), command: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
    .filter(({ command }) => command !== '');
}

/**
 * Connections from this machine to a server of the test run that are still open. Once the last test
 * process is gone there must be none. Linux only, like above.
 * @param port the server's port on loopback.
 */
export function countConnections(port: number): number {
  if (process.platform !== 'linux') return 0;
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readText(file).split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === established && local?.endsWith(`:${hexPort}`)).length;
}

const established = '01';

function readProc(pid: string, file: string): string {
  return readText(`/proc/${pid}/${file}`);
}

/** Empty when it is gone, or not ours to read. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
