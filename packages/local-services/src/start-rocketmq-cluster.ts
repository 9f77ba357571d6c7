import { join } from 'node:path';
import {
  type ClusterPorts,
  clusterPortOffsets,
  clusterPortsFrom,
  type MasterName,
  masterNames,
  portsOfBroker,
  proxyHeap,
  slaveName,
  writeClusterConfig,
} from './cluster-config.ts';
import { ensureRocketmq } from './ensure-rocketmq.ts';
import { findJava } from './find-programs.ts';
import { freePortBlock } from './free-port.ts';
import { createLocalService, startUntil } from './local-service.ts';
import { prepareFolder } from './prepare-folder.ts';
import { announceBroker, isBrokerRegistered, isProxyServing } from './probe-rocketmq.ts';
import { programMissing } from './program-missing.ts';
import type { ProgramPlan } from './program-plan.ts';
import { brokerHeap, javaProperties, moduleFlags, serialCompiler } from './rocketmq-config.ts';
import {
  nameServer,
  type RocketmqOptions,
  type RocketmqService,
  requireDiskSpace,
} from './start-rocketmq.ts';

/** What the programs of a cluster are started from. */
interface Place {
  readonly java: string;
  readonly lib: string;
  readonly dir: string;
  readonly ports: ClusterPorts;
}

export interface RocketmqClusterOptions extends Omit<RocketmqOptions, 'guards'> {
  /** `broker-b` has a slave, `broker-b-slave`, that acts as its master once it is gone. */
  readonly withSlave?: boolean;
}

/**
 * A private RocketMQ of two masters, to lose one of: name server, `broker-a`, `broker-b`, and the gRPC proxy by itself
 * (`proxy`). Programs for `kill` are named so. About 1.1 GB of memory, 1.4 GB with a slave, so it is for the tests that
 * need it. What `startRocketmq` says of topics and of open ports holds here too.
 */
export async function startRocketmqCluster({
  withSlave = false,
  ...options
}: RocketmqClusterOptions): Promise<RocketmqService> {
  const java = await findJava();
  if (java === undefined) throw programMissing('java');
  const lib = await ensureRocketmq(options.cacheDir, options.log);
  const dir = await prepareFolder(options.dir, options.log);
  requireDiskSpace(dir);
  const base = await freePortBlock(options.port, Object.values(clusterPortOffsets), options.log);
  const ports = clusterPortsFrom(base);
  const place: Place = { java, lib, dir, ports };
  const { timerPrecisionMs = 100 } = options;
  const prepare = () => writeClusterConfig(dir, ports, { timerPrecisionMs, withSlave });
  const brokers: (MasterName | typeof slaveName)[] = withSlave
    ? [...masterNames, slaveName]
    : [...masterNames];
  const programs = [
    nameServer(java, lib, dir, ports),
    ...brokers.map((name) => broker(name, place)),
    proxy(place),
  ].map((plan) => ({ ...plan, prepare }));
  const service = createLocalService({ name: 'RocketMQ cluster', ports, programs });
  await startUntil(service, options.signal);
  return Object.assign(service, {
    endpoints: `127.0.0.1:${ports.grpc}`,
    namesrv: `127.0.0.1:${ports.nameServer}`,
  });
}

function broker(name: MasterName | typeof slaveName, { java, lib, dir, ports }: Place): ProgramPlan {
  const { broker, fast, ha } = portsOfBroker(name, ports);
  return {
    name,
    command: java,
    args: [
      ...[...brokerHeap, ...serialCompiler, ...moduleFlags, ...javaProperties(dir, name)],
      ...['-cp', `${lib}/*`, 'org.apache.rocketmq.broker.BrokerStartup', '-c', join(dir, `${name}.conf`)],
    ],
    dir,
    ports: [fast, broker, ha],
    ready: async () => {
      if (await isBrokerRegistered(ports.nameServer, `127.0.0.1:${broker}`)) return true;
      await announceBroker(broker);
      return false;
    },
    readyTimeoutMs: 120_000,
    stopGraceMs: 40_000,
    hint: `Details: ${join(dir, `${name}-detail.log`)}`,
  };
}

function proxy({ java, lib, dir, ports }: Place): ProgramPlan {
  return {
    name: 'proxy',
    command: java,
    args: [
      ...[...proxyHeap, ...serialCompiler, ...moduleFlags, ...javaProperties(dir, 'proxy')],
      ...['-cp', `${lib}/*`, 'org.apache.rocketmq.proxy.ProxyStartup', '-pm', 'cluster'],
      ...['-n', `127.0.0.1:${ports.nameServer}`, '-pc', join(dir, 'rmq-proxy.json')],
    ],
    dir,
    ports: [ports.grpc, ports.remoting],
    ready: () => isProxyServing(ports.grpc),
    readyTimeoutMs: 120_000,
    stopGraceMs: 20_000,
    hint: `Details: ${join(dir, 'proxy-detail.log')}`,
  };
}
