import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureRocketmq } from './ensure-rocketmq.ts';
import { findJava } from './find-programs.ts';
import { freePortBlock } from './free-port.ts';
import { createLocalService, type LocalService, startUntil } from './local-service.ts';
import { LocalServiceError } from './local-service-error.ts';
import { prepareFolder } from './prepare-folder.ts';
import { announceBroker, isBrokerRegistered, isNameServerReady, isProxyServing } from './probe-rocketmq.ts';
import { programMissing } from './program-missing.ts';
import type { ProgramPlan } from './program-plan.ts';
import {
  brokerJvm,
  javaProperties,
  nameServerJvm,
  portOffsets,
  portsFrom,
  type RocketmqGuards,
  type RocketmqPorts,
  type RocketmqUser,
  writeRocketmqConfig,
} from './rocketmq-config.ts';
import { runMqadmin } from './run-mqadmin.ts';

export interface RocketmqOptions {
  /** Store, logs, configuration and `processes.json`; for this service alone. */
  readonly dir: string;
  /** Of gRPC, with room for the next six; preferred. Any free block by default. */
  readonly port?: number;
  /** Where the libraries are kept, and downloaded to once. `defaultCacheDir()` by default. */
  readonly cacheDir?: string;
  /** How exact delayed delivery is. 100 by default; the broker's own default is 1000. */
  readonly timerPrecisionMs?: number;
  /** Users and TLS of a single broker. */
  readonly guards?: RocketmqGuards;
  /** Cuts the start short: what runs by then is stopped, and the start rejects. */
  readonly signal?: AbortSignal;
  readonly log: (line: string) => void;
}

export interface RocketmqService extends LocalService {
  /** Of the proxy, for the gRPC client: host:port. */
  readonly endpoints: string;
  /** For what creates topics: host:port. */
  readonly namesrv: string;
}

/** One that RocketMQ's own tool may be asked about. */
export interface RocketmqBroker extends RocketmqService {
  /**
   * Run RocketMQ's `mqadmin` with these arguments, as the administrator where there are users: a Java program of 2 s.
   * @returns what it wrote. @throws {Error} when that is no success: the tool itself exits 0 in any case.
   */
  mqadmin(...args: readonly string[]): Promise<string>;
}

/** From here on the broker stores nothing more; it cannot be told otherwise. */
const diskUsedPercentMax = 90;

/**
 * A private RocketMQ: name server, and a broker with the gRPC proxy inside. Confirmed messages are on
 * disk. Programs for `kill`: `namesrv`, `broker`. It has no topics; whoever uses it creates them.
 * The ports `grpc`, `remoting` and `ha` listen on every interface, which no setting changes: on an open
 * network put a firewall before them.
 */
export async function startRocketmq(options: RocketmqOptions): Promise<RocketmqBroker> {
  const java = await findJava();
  if (java === undefined) throw programMissing('java');
  const lib = await ensureRocketmq(options.cacheDir, options.log);
  const dir = await prepareFolder(options.dir, options.log);
  requireDiskSpace(dir);
  const ports = portsFrom(await freePortBlock(options.port, Object.values(portOffsets), options.log));
  const { timerPrecisionMs = 100, guards } = options;
  const writeConfig = () => writeRocketmqConfig(dir, ports, timerPrecisionMs, guards);
  const service = createLocalService({
    name: 'RocketMQ',
    ports,
    programs: [
      { ...nameServer(java, lib, dir, ports), prepare: writeConfig },
      { ...broker(java, lib, dir, ports, guards?.admin), prepare: writeConfig },
    ],
  });
  await startUntil(service, options.signal);
  return Object.assign(service, {
    endpoints: `127.0.0.1:${ports.grpc}`,
    namesrv: `127.0.0.1:${ports.nameServer}`,
    mqadmin: (...args: readonly string[]) => runMqadmin({ java, lib, dir }, args, guards?.admin),
  });
}

/** Needed even for a single broker: the proxy inside it asks here for routes. */
export function nameServer(
  java: string,
  lib: string,
  dir: string,
  ports: Pick<RocketmqPorts, 'nameServer'>,
): ProgramPlan {
  return {
    name: 'namesrv',
    command: java,
    args: [
      ...[...nameServerJvm, ...javaProperties(dir, 'namesrv'), '-cp', `${lib}/*`],
      ...['org.apache.rocketmq.namesrv.NamesrvStartup', '-c', join(dir, 'namesrv.conf')],
    ],
    dir,
    ports: [ports.nameServer],
    ready: () => isNameServerReady(ports.nameServer),
    readyTimeoutMs: 60_000,
    stopGraceMs: 15_000,
    hint: `Details: ${join(dir, 'namesrv-detail.log')}`,
  };
}

function broker(
  java: string,
  lib: string,
  dir: string,
  ports: RocketmqPorts,
  admin: RocketmqUser | undefined,
): ProgramPlan {
  const nameServerAddress = `127.0.0.1:${ports.nameServer}`;
  return {
    name: 'broker',
    command: java,
    args: [
      ...[...brokerJvm, ...javaProperties(dir, 'broker'), '-cp', `${lib}/*`],
      ...['org.apache.rocketmq.proxy.ProxyStartup', '-pm', 'local', '-n', nameServerAddress],
      ...['-pc', join(dir, 'rmq-proxy.json'), '-bc', join(dir, 'broker.conf')],
    ],
    dir,
    ports: [ports.grpc, ports.remoting, ports.fast, ports.broker, ports.ha],
    ready: () => isBrokerReady(ports, admin),
    readyTimeoutMs: 120_000,
    // It writes its consumer offsets while it stops, and takes 10 to 15 s.
    stopGraceMs: 40_000,
    hint: `Details: ${join(dir, 'broker-detail.log')}`,
  };
}

async function isBrokerReady(ports: RocketmqPorts, admin: RocketmqUser | undefined): Promise<boolean> {
  if (!(await isProxyServing(ports.grpc))) return false;
  if (await isBrokerRegistered(ports.nameServer, `127.0.0.1:${ports.broker}`)) return true;
  await announceBroker(ports.broker, admin);
  return false;
}

/** Counted as the broker counts: used of what a normal user could use. */
export function requireDiskSpace(dir: string): void {
  const disk = statfsSync(dir);
  const used = disk.blocks - disk.bfree;
  const percent = Math.ceil((100 * used) / (used + disk.bavail));
  if (percent < diskUsedPercentMax) return;
  throw new LocalServiceError(
    'LAPSE_DISK_FULL',
    `the disk of ${dir} is ${percent} % full, and RocketMQ stores no message from ${diskUsedPercentMax} % on. ` +
      'Make room, or choose a folder on another disk.',
  );
}
