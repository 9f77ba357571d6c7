import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  brokerProperties,
  logback,
  logbackFile,
  temporaryFolder,
  writeProperties,
} from './rocketmq-config.ts';

/** Of the masters, which are also the names of their programs. */
export const masterNames = ['broker-a', 'broker-b'] as const;
export type MasterName = (typeof masterNames)[number];

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

export function portsOfMaster(
  name: MasterName,
  ports: ClusterPorts,
): BrokerPorts & { readonly fast: number } {
  return name === 'broker-a'
    ? { broker: ports.brokerA, ha: ports.haA, fast: ports.fastA }
    : { broker: ports.brokerB, ha: ports.haB, fast: ports.fastB };
}

/** Write every configuration file anew: ports may differ from the last start, the stores stay. */
export function writeClusterConfig(dir: string, ports: ClusterPorts, timerPrecisionMs: number): void {
  mkdirSync(temporaryFolder(dir), { recursive: true });
  writeProperties(join(dir, 'namesrv.conf'), { listenPort: ports.nameServer, bindAddress: '127.0.0.1' });
  for (const name of masterNames) {
    const store = join(dir, name);
    mkdirSync(store, { recursive: true });
    writeProperties(join(dir, `${name}.conf`), {
      ...brokerProperties(store, portsOfMaster(name, ports), timerPrecisionMs),
      brokerName: name,
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
    }),
  );
  for (const program of ['namesrv', 'proxy', ...masterNames])
    writeFileSync(logbackFile(dir, program), logback(dir, program));
}
