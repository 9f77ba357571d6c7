import { readConfig } from '@lapse/runtime';
import { checkSettings } from './check-settings.ts';
import { portsOf } from './image-ports.ts';
import { images } from './images.ts';
import { type Container, nameOf, type PodSpec, type Probe, type Resource } from './resource.ts';

/** Between what a process may take to stop and what it is given: the end of a pod takes a moment of its own. */
const graceMarginMs = 5_000;

/** The app of an image such as `registry.example.com/lapse-closer:0.1.0`; undefined when it is not one of ours. */
export function appOf(image: string): string | undefined {
  const name = /(?:^|\/)lapse-([a-z-]+)(?:[:@]|$)/.exec(image)?.[1];
  return images.find(({ app }) => app === name)?.app;
}

/** What must be true of a workload that runs an image of ours. */
export function checkProcessPod(root: string, resource: Resource, all: readonly Resource[]): string[] {
  const pod = resource.spec?.template?.spec;
  if (pod === undefined) return [];
  const containers = [...(pod.initContainers ?? []), ...pod.containers].filter(({ image }) => appOf(image));
  if (containers.length === 0) return [];
  const name = nameOf(resource);
  const stays = resource.kind !== 'Job' && resource.kind !== 'CronJob';
  return [
    ...checkPodSecurity(pod).map((fault) => `${name}: ${fault}`),
    ...containers.flatMap((container) => {
      const where = `${name} container ${container.name}`;
      const env = envOf(container, all);
      const app = appOf(container.image) ?? '';
      return [
        ...checkContainerSecurity(container).map((fault) => `${where}: ${fault}`),
        ...checkResources(container).map((fault) => `${where}: ${fault}`),
        ...(stays ? checkProbes(root, app, container).map((fault) => `${where}: ${fault}`) : []),
        ...checkGrace(pod, container, env).map((fault) => `${where}: ${fault}`),
        ...checkSettings(root, { name: where, app, env, secretFiles: secretFilesOf(pod, container, all) }),
      ];
    }),
  ];
}

function checkPodSecurity(pod: PodSpec): string[] {
  const security = pod.securityContext;
  return [
    ...(security?.runAsNonRoot === true ? [] : ['runAsNonRoot must be true']),
    ...((security?.runAsUser ?? 0) > 0 ? [] : ['runAsUser must be a number, and not 0']),
    ...(security?.seccompProfile?.type === 'RuntimeDefault' ? [] : ['seccompProfile must be RuntimeDefault']),
    ...(pod.automountServiceAccountToken === false ? [] : ['automountServiceAccountToken must be false']),
    // LAPSE_PRODUCER_PORT and its like, which Kubernetes makes for a Service, are no settings: the process would not start.
    ...(pod.enableServiceLinks === false ? [] : ['enableServiceLinks must be false']),
  ];
}

function checkContainerSecurity({ image, securityContext }: Container): string[] {
  return [
    ...(securityContext?.allowPrivilegeEscalation === false
      ? []
      : ['allowPrivilegeEscalation must be false']),
    ...(securityContext?.readOnlyRootFilesystem === true ? [] : ['readOnlyRootFilesystem must be true']),
    ...(securityContext?.capabilities?.drop?.includes('ALL') ? [] : ['capabilities must drop ALL']),
    ...(isPinned(image) ? [] : [`image ${image} must have a tag, and not "latest"`]),
  ];
}

/** A digest, or a tag that says a version. */
export function isPinned(image: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(image) || (/:[^/:]+$/.test(image) && !image.endsWith(':latest'));
}

function checkResources({ resources }: Container): string[] {
  return [
    ...(resources?.requests?.cpu && resources.requests.memory ? [] : ['must request cpu and memory']),
    ...(resources?.limits?.memory ? [] : ['must have a limit of memory']),
  ];
}

function checkProbes(root: string, app: string, container: Container): string[] {
  const ports = portsOf(root, app);
  const expected: Record<string, number | undefined> = { ops: ports.ops, http: ports.http };
  const wrong = (container.ports ?? [])
    .filter(({ name = '', containerPort }) => expected[name] !== containerPort)
    .map(
      ({ name, containerPort }) =>
        `port ${name} is ${containerPort}, the image listens on ${expected[name ?? '']}`,
    );
  const names = (container.ports ?? []).map(({ name }) => name);
  const missing = Object.entries(expected).filter(
    ([name, port]) => port !== undefined && !names.includes(name),
  );
  return [
    ...wrong,
    ...missing.map(([name]) => `has no port named ${name}`),
    ...checkProbe('livenessProbe', container.livenessProbe, '/healthz'),
    ...checkProbe('startupProbe', container.startupProbe, '/healthz'),
    ...checkProbe('readinessProbe', container.readinessProbe, '/readyz'),
  ];
}

function checkProbe(name: string, probe: Probe | undefined, path: string): string[] {
  const { httpGet } = probe ?? {};
  return httpGet?.path === path && httpGet.port === 'ops' ? [] : [`${name} must get ${path} at port ops`];
}

/** What the process may take, and preStop before, must fit into what the kubelet waits. */
function checkGrace(pod: PodSpec, container: Container, env: Readonly<Record<string, string>>): string[] {
  const { LAPSE_SHUTDOWN_TIMEOUT = '', LAPSE_SHUTDOWN_STEP_TIMEOUT = '' } = env;
  const { shutdownTimeoutMs } = readConfig({ LAPSE_SHUTDOWN_TIMEOUT, LAPSE_SHUTDOWN_STEP_TIMEOUT }, [
    'process',
  ]).process;
  const preStop = container.lifecycle?.preStop?.exec?.command ?? [];
  const preStopMs = preStop[0] === 'sleep' ? Number(preStop[1]) * 1000 : 0;
  const graceMs = (pod.terminationGracePeriodSeconds ?? 30) * 1000;
  const neededMs = preStopMs + shutdownTimeoutMs + graceMarginMs;
  return graceMs >= neededMs
    ? []
    : [`has ${graceMs} ms to stop and may need ${neededMs}: raise terminationGracePeriodSeconds`];
}

function envOf(container: Container, all: readonly Resource[]): Record<string, string> {
  const shared = (container.envFrom ?? []).map(
    ({ configMapRef }) =>
      all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name)?.data ??
      {},
  );
  const own = (container.env ?? []).map(({ name, value = '' }) => [name, value] as const);
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

/** Where the container finds which part of a Secret; its value, where the Secret is among the manifests. */
function secretFilesOf(
  pod: PodSpec,
  container: Container,
  all: readonly Resource[],
): ReadonlyMap<string, string | undefined> {
  const files = new Map<string, string | undefined>();
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const secret = pod.volumes?.find((volume) => volume.name === name)?.secret;
    const data = all.find(
      ({ kind, metadata }) => kind === 'Secret' && metadata.name === secret?.secretName,
    )?.data;
    for (const { key, path } of secret?.items ?? []) {
      const value = data?.[key];
      files.set(`${mountPath}/${path}`, value && Buffer.from(value, 'base64').toString());
    }
  }
  return files;
}
