import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  brokerProperties,
  logback,
  logbackFile,
  routeRefreshS,
  temporaryFolder,
  writeProperties,
} from './rocketmq-config.ts';

/** Of the masters, which are also the names of their programs. */
export const masterNames = ['broker-a', 'broker-b'] as const;
export type MasterName = (typeof masterNames)[number];
/** Of `broker-b`, where it has one. */
export const slaveName = 'broker-b-slave';
type BrokerName = MasterName | typeof slaveName;

/** Counted from the gRPC port. Each broker derives its fast port (-2) and HA port (+1) from its own. */
export const clusterPortOffsets = {
  grpc: 0,
  remoting: 1,
  nameServer: 2,
  fastA: 3,
  brokerA: 5,
  haA: 6,
  fastB: 8,
  brokerB: 10,
  haB: 11,
  fastSlave: 13,
  brokerSlave: 15,
  haSlave: 16,
} as const;

export type ClusterPorts = Readonly<Record<keyof typeof clusterPortOffsets, number>>;

export function clusterPortsFrom(base: number): ClusterPorts {
  const entries = Object.entries(clusterPortOffsets).map(([name, offset]) => [name, base + offset]);
  return Object.fromEntries(entries) as ClusterPorts;
}

/** About 70 MB of heap: it stores nothing. */
export const proxyHeap = ['-Xms64m', '-Xmx160m', '-XX:MaxDirectMemorySize=64m'];

export interface BrokerPorts {
  readonly broker: number;
  readonly ha: number;
}

export function portsOfBroker(
  name: BrokerName,
  ports: ClusterPorts,
): BrokerPorts & { readonly fast: number } {
  if (name === 'broker-a') return { broker: ports.brokerA, ha: ports.haA, fast: ports.fastA };
  if (name === 'broker-b') return { broker: ports.brokerB, ha: ports.haB, fast: ports.fastB };
  return { broker: ports.brokerSlave, ha: ports.haSlave, fast: ports.fastSlave };
}

/**
 * A slave that acts as its master while that is away: it lets messages be read, and hands those of the timer to a master
 * that lives. A master waits for no slave (`minInSyncReplicas`), so that the loss of a slave stops nothing.
 */
const actingMaster = {
  enableSlaveActingMaster: true,
  enableRemoteEscape: true,
  slaveReadEnable: true,
  minInSyncReplicas: 1,
  enableAutoInSyncReplicas: true,
  // Otherwise a master that comes back waits for ever to be let in.
  skipPreOnline: true,
} as const;

function rolesOf(name: BrokerName): Record<string, string | number | boolean> {
  const replicas = name === 'broker-a' ? 1 : 2;
  const role = name === slaveName ? { brokerId: 1, brokerRole: 'SLAVE' } : { brokerRole: 'ASYNC_MASTER' };
  return { ...actingMaster, ...role, totalReplicas: replicas, inSyncReplicas: replicas };
}

/** Write every configuration file anew: ports may differ from the last start, the stores stay. */
export function writeClusterConfig(
  dir: string,
  ports: ClusterPorts,
  { timerPrecisionMs, withSlave }: { readonly timerPrecisionMs: number; readonly withSlave: boolean },
): void {
  mkdirSync(temporaryFolder(dir), { recursive: true });
  writeProperties(join(dir, 'namesrv.conf'), {
    listenPort: ports.nameServer,
    bindAddress: '127.0.0.1',
    supportActingMaster: withSlave,
  });
  const brokers: readonly BrokerName[] = withSlave ? [...masterNames, slaveName] : masterNames;
  for (const name of brokers) {
    const store = join(dir, name);
    mkdirSync(store, { recursive: true });
    writeProperties(join(dir, `${name}.conf`), {
      ...brokerProperties(store, portsOfBroker(name, ports), timerPrecisionMs),
      brokerName: name === slaveName ? 'broker-b' : name,
      ...(withSlave && rolesOf(name)),
      namesrvAddr: `127.0.0.1:${ports.nameServer}`,
    });
  }
  writeFileSync(
    join(dir, 'rmq-proxy.json'),
    JSON.stringify({
      rocketMQClusterName: 'DefaultCluster',
      namesrvAddr: `127.0.0.1:${ports.nameServer}`,
      localServeAddr: '127.0.0.1',
      grpcServerPort: ports.grpc,
      remotingListenPort: ports.remoting,
      grpcShutdownTimeSeconds: 2,
      topicRouteServiceCacheRefreshSeconds: routeRefreshS,
    }),
  );
  for (const program of ['namesrv', 'proxy', ...brokers])
    writeFileSync(logbackFile(dir, program), logback(dir, program));
}
