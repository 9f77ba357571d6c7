import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Counted from the gRPC port. The broker derives its fast port (-2) and HA port (+1) from `broker`. */
export const portOffsets = { grpc: 0, remoting: 1, nameServer: 2, fast: 3, broker: 5, ha: 6 } as const;

export type RocketmqPorts = Readonly<Record<keyof typeof portOffsets, number>>;

export function portsFrom(base: number): RocketmqPorts {
  return {
    grpc: base + portOffsets.grpc,
    remoting: base + portOffsets.remoting,
    nameServer: base + portOffsets.nameServer,
    fast: base + portOffsets.fast,
    broker: base + portOffsets.broker,
    ha: base + portOffsets.ha,
  };
}

/**
 * The proxy answers from what it read of a topic's route so long ago, and that a topic is not there as well: asked while
 * the broker starts, it refuses every message for this time once the broker is back. 20 s, unless said.
 */
export const routeRefreshS = 1;

export const serialCompiler = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:+ExitOnOutOfMemoryError'];

/** About 120 MB of memory. */
export const nameServerJvm = ['-Xmx48m', ...serialCompiler];

/** The direct memory suffices because maxMessageSize is small; with 4 MB messages acks fail. */
export const brokerHeap = ['-Xms128m', '-Xmx256m', '-XX:MaxDirectMemorySize=128m'];

export const moduleFlags = [
  ...['--add-exports', 'java.base/sun.nio.ch=ALL-UNNAMED', '--add-opens', 'java.base/java.nio=ALL-UNNAMED'],
  ...['--add-exports', 'java.base/sun.security.x509=ALL-UNNAMED'],
  ...['--add-exports', 'java.base/sun.security.util=ALL-UNNAMED'],
];

/** About 350 MB. */
export const brokerJvm = [...brokerHeap, ...serialCompiler, ...moduleFlags];

/**
 * Write every configuration file anew: ports may differ from the last start, the store stays.
 * An unknown key is ignored by RocketMQ without a word, so check the spelling of a new one.
 */
export function writeRocketmqConfig(
  dir: string,
  ports: RocketmqPorts,
  timerPrecisionMs: number,
  { admin, tls }: RocketmqGuards = {},
): void {
  rmSync(temporaryFolder(dir), { recursive: true, force: true });
  mkdirSync(temporaryFolder(dir), { recursive: true });
  writeProperties(join(dir, 'namesrv.conf'), { listenPort: ports.nameServer, bindAddress: '127.0.0.1' });
  writeProperties(join(dir, 'broker.conf'), {
    ...brokerProperties(dir, ports, timerPrecisionMs),
    ...(admin && brokerAuth(admin)),
  });
  writeFileSync(
    join(dir, 'rmq-proxy.json'),
    JSON.stringify({
      rocketMQClusterName: 'DefaultCluster',
      localServeAddr: '127.0.0.1',
      grpcServerPort: ports.grpc,
      remotingListenPort: ports.remoting,
      grpcShutdownTimeSeconds: 2,
      ...(admin && proxyAuth(admin)),
      ...(tls && { tlsTestModeEnable: false, tlsCertPath: tls.certPath, tlsKeyPath: tls.keyPath }),
      topicRouteServiceCacheRefreshSeconds: routeRefreshS,
    }),
  );
  for (const program of ['namesrv', 'broker'])
    writeFileSync(logbackFile(dir, program), logback(dir, program));
}

/** Who may come in, and how; by default anybody who reaches it. */
export interface RocketmqGuards {
  /** ACL 2.0: nobody without a user. This one is there from the start, and may do everything. */
  readonly admin?: RocketmqUser;
  /** Files of the proxy's own certificate and key. It speaks TLS and plain text on the same port. */
  readonly tls?: { readonly certPath: string; readonly keyPath: string };
}

export interface RocketmqUser {
  readonly accessKey: string;
  readonly secretKey: string;
}

const auth = 'org.apache.rocketmq.auth';

function brokerAuth(admin: RocketmqUser): Record<string, string | boolean> {
  return {
    authenticationEnabled: true,
    authenticationProvider: `${auth}.authentication.provider.DefaultAuthenticationProvider`,
    authenticationMetadataProvider: `${auth}.authentication.provider.LocalAuthenticationMetadataProvider`,
    initAuthenticationUser: JSON.stringify({ username: admin.accessKey, password: admin.secretKey }),
    innerClientAuthenticationCredentials: JSON.stringify(admin),
    authorizationEnabled: true,
    authorizationProvider: `${auth}.authorization.provider.DefaultAuthorizationProvider`,
    authorizationMetadataProvider: `${auth}.authorization.provider.LocalAuthorizationMetadataProvider`,
  };
}

/** The proxy asks the broker who is who; credentials are JSON within JSON. */
function proxyAuth(admin: RocketmqUser): Record<string, string | boolean> {
  const { initAuthenticationUser: _brokersOwn, ...same } = brokerAuth(admin);
  return {
    ...same,
    authenticationMetadataProvider: 'org.apache.rocketmq.proxy.auth.ProxyAuthenticationMetadataProvider',
    authorizationMetadataProvider: 'org.apache.rocketmq.proxy.auth.ProxyAuthorizationMetadataProvider',
  };
}

/** A broker that is killed leaves the key of its certificate and a library of 12 MB. */
export function temporaryFolder(dir: string): string {
  return join(dir, 'home', 'tmp');
}

/** Everything it writes stays in the data folder, the home and temporary folders included. */
export function javaProperties(dir: string, program: string): string[] {
  return [
    `-Duser.home=${join(dir, 'home')}`,
    `-Djava.io.tmpdir=${temporaryFolder(dir)}`,
    `-Drocketmq.home.dir=${dir}`,
    `-Drmq.logback.configurationFile=${logbackFile(dir, program)}`,
  ];
}

/** Where a program's own log configuration is. */
export function logbackFile(dir: string, program: string): string {
  return join(dir, `${program}.logback.xml`);
}

/** Of a broker that keeps its store under `dir`. */
export function brokerProperties(
  dir: string,
  ports: Pick<RocketmqPorts, 'broker' | 'ha'>,
  timerPrecisionMs: number,
): Record<string, string | number | boolean> {
  return {
    brokerClusterName: 'DefaultCluster',
    brokerName: 'broker-a',
    brokerId: 0,
    // Without both, it registers the address of whichever network card comes first.
    brokerIP1: '127.0.0.1',
    brokerIP2: '127.0.0.1',
    bindAddress: '127.0.0.1',
    listenPort: ports.broker,
    haListenPort: ports.ha,
    autoCreateTopicEnable: false,
    storePathRootDir: join(dir, 'store'),
    storePathCommitLog: join(dir, 'store', 'commitlog'),
    mappedFileSizeCommitLog: 64 * 1024 * 1024,
    mappedFileSizeTimerLog: 10 * 1024 * 1024,
    maxMessageSize: 256 * 1024,
    messageIndexEnable: false,
    // A confirmed message is on disk.
    flushDiskType: 'SYNC_FLUSH',
    diskMaxUsedSpaceRatio: 88,
    // Otherwise a nearly full disk makes it delete messages that wait for their time.
    cleanFileForciblyEnable: false,
    timerWheelEnable: true,
    timerPrecisionMs,
    timerEnableRetryUntilSuccess: true,
    // Each flush of the timer's wheel compares its 39 MB byte by byte: every second, as it is by default, that was 27% of
    // a core, and two thirds of what the broker used. After a kill it reads so much more of the timer's log again.
    timerFlushIntervalMs: 10_000,
    // Until this time after its start a thread of it only asks the clock, over and over: a core for 10 s, unless said.
    // Then it writes so often what it counts of transactions, of which there are none here.
    transactionMetricFlushInterval: 1_000,
    recallMessageEnable: true,
    channelExpiredTimeout: 20_000,
  };
}

export function writeProperties(file: string, properties: Record<string, string | number | boolean>): void {
  // A backslash escapes in this format.
  const lines = Object.entries(properties).map(
    ([key, value]) => `${key}=${String(value).replaceAll('\\', '\\\\')}`,
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** One small log a program, instead of the two dozen files of up to a gigabyte that it ships with. */
export function logback(dir: string, program: string): string {
  const noisy = [
    'Pop',
    'PopLite',
    'WaterMark',
    'NamesrvWaterMark',
    'ProxyWatermark',
    'Stats',
    'Traffic',
    'Remoting',
  ];
  const file = join(dir, `${program}-detail.log`);
  return `<configuration>
  <appender name="FILE" class="ch.qos.logback.core.rolling.RollingFileAppender">
    <file>${escapeXml(file)}</file>
    <rollingPolicy class="ch.qos.logback.core.rolling.FixedWindowRollingPolicy">
      <fileNamePattern>${escapeXml(file)}.%i</fileNamePattern>
      <minIndex>1</minIndex>
      <maxIndex>2</maxIndex>
    </rollingPolicy>
    <triggeringPolicy class="ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy">
      <maxFileSize>10MB</maxFileSize>
    </triggeringPolicy>
    <encoder><pattern>%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %p %logger %m%n</pattern></encoder>
  </appender>
${noisy.map((name) => `  <logger name="Rocketmq${name}" level="WARN"/>`).join('\n')}
  <root level="INFO"><appender-ref ref="FILE"/></root>
</configuration>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
