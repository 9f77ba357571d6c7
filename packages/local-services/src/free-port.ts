import { createServer } from 'node:net';
import { LocalServiceError } from './local-service-error.ts';
import { describePortHolder } from './port-holder.ts';

/** Below Linux's ephemeral range (32768 up), where an outgoing connection could take a chosen port. */
const anyPortFrom = 20_000;
const anyPortTo = 31_000;
const portMax = 65_535;
const triesMax = 500;
/** How long a port handed out is not handed out again in this process, before its server listens on it. */
const reservedMs = 30_000;

const reserved = new Map<number, number>();

/**
 * The preferred port, or the next free one; without a preference, any free one. Says who holds the
 * preferred port when it is taken. Another process may still take the port before it is used.
 */
export async function freePort(preferred?: number, log?: (line: string) => void): Promise<number> {
  return freePortBlock(preferred, [0], log);
}

/**
 * The first port, counted from the preferred one, at which it and all `offsets` above it are free.
 * RocketMQ takes six ports, of which three follow from another.
 */
export async function freePortBlock(
  preferred: number | undefined,
  offsets: readonly number[],
  log: (line: string) => void = () => {},
): Promise<number> {
  const span = Math.max(...offsets) + 1;
  const first = preferred ?? anyPortFrom + Math.floor(Math.random() * (anyPortTo - anyPortFrom));
  let blocker: number | undefined;
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const base = preferred === undefined ? first + attempt * span : first + attempt;
    const ports = offsets.map((offset) => base + offset);
    const taken = await reservePorts(ports);
    if (taken === undefined) {
      if (blocker !== undefined && preferred !== undefined) {
        log(`port ${await describeTaken(blocker)}; using ${base} instead of ${preferred}`);
      }
      return base;
    }
    blocker ??= taken;
  }
  throw new LocalServiceError('LAPSE_PORT_TAKEN', `no free port found from ${first} on`);
}

/** Its server listens now, or will not: from here on the machine itself says whether the port is free. */
export function unreservePorts(ports: readonly number[]): void {
  for (const port of ports) reserved.delete(port);
}

/** @throws LAPSE_PORT_TAKEN naming the holder, when one of the ports cannot be listened on. */
export async function requirePorts(ports: readonly number[]): Promise<void> {
  const taken = await findTaken(ports);
  if (taken === undefined) return;
  throw new LocalServiceError(
    'LAPSE_PORT_TAKEN',
    `port ${await describeTaken(taken)}. Stop that, or choose another port.`,
  );
}

async function describeTaken(port: number): Promise<string> {
  const holder = await describePortHolder(port);
  return holder === undefined ? `${port} is taken` : `${port} is taken by ${holder}`;
}

/**
 * Reserved first and tried then, so two starts in this process cannot choose the same port.
 * @returns the port that is taken, if any; nothing is reserved then.
 */
async function reservePorts(ports: readonly number[]): Promise<number | undefined> {
  const now = Date.now();
  const held = ports.find((port) => (reserved.get(port) ?? 0) > now);
  if (held !== undefined) return held;
  for (const port of ports) reserved.set(port, now + reservedMs);
  const taken = await findTaken(ports);
  if (taken !== undefined) unreservePorts(ports);
  return taken;
}

async function findTaken(ports: readonly number[]): Promise<number | undefined> {
  for (const port of ports) {
    if (port > portMax || !(await canListen(port))) return port;
  }
  return undefined;
}

/**
 * Tries the loopback address and every address: the broker's gRPC port listens on every interface,
 * so a holder of only one of them is in its way as well.
 */
async function canListen(port: number): Promise<boolean> {
  return (await tryListen(port, '127.0.0.1')) && (await tryListen(port, '::'));
}

function tryListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      // A machine without IPv6 is no reason to call the port taken.
      resolve(error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL');
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
