import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootDir } from '@lapse/stack';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkResources, overlays, render } from '../src/check-kubernetes.ts';
import { schemaFirstSelector } from '../src/check-schema-first.ts';
import { checkShapes } from '../src/check-shapes.ts';
import { findKustomize } from '../src/find-kustomize.ts';
import type { Container, PodSpec, Resource } from '../src/resource.ts';

const { signal } = new AbortController();
const rendered = new Map<string, readonly Resource[]>();

beforeAll(async () => {
  const kustomize = await findKustomize(signal);
  for (const overlay of overlays)
    rendered.set(overlay, await render(kustomize, join(rootDir, overlay), signal));
});

/** What the rules say of the production overlay once one thing is spoilt in a copy of it. */
function faultsAfter(
  spoil: (find: Finder) => void,
  check = (all: Resource[]) => checkResources(rootDir, all),
): string {
  const all = structuredClone(rendered.get(overlays[1])) as Mutable<Resource>[];
  const resource = (name: string) => {
    const found = all.find(({ kind, metadata }) => `${kind}/${metadata.name}` === name);
    if (found === undefined) throw new Error(`The overlay has no ${name}.`);
    return found;
  };
  spoil({
    all,
    resource,
    pod: (name) => resource(name).spec?.template?.spec as Mutable<PodSpec>,
    container: (name) => resource(name).spec?.template?.spec.containers[0] as Mutable<Container>,
  });
  return check(all as Resource[]).join('\n');
}

type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;

interface Finder {
  readonly all: Mutable<Resource>[];
  readonly resource: (name: string) => Mutable<Resource>;
  readonly pod: (name: string) => Mutable<PodSpec>;
  readonly container: (name: string) => Mutable<Container>;
}

const closer = 'Deployment/lapse-closer';

describe('a manifest that would harm is a fault', () => {
  test('less time to stop than the process may take', () => {
    expect(faultsAfter(({ pod }) => (pod(closer).terminationGracePeriodSeconds = 20))).toContain(
      'has 20000 ms to stop and may need 25000',
    );
  });
  test('a preStop that eats that time', () => {
    const eat = ({ container }: Finder) => {
      container(closer).lifecycle = { preStop: { exec: { command: ['sleep', '15'] } } };
    };
    expect(faultsAfter(eat)).toContain('may need 40000');
  });
  test('a secret in the open', () => {
    const open = ({ container }: Finder) =>
      container(closer).env?.push({ name: 'LAPSE_ROCKETMQ_SECRET_KEY', value: 'open' });
    expect(faultsAfter(open)).toContain('LAPSE_ROCKETMQ_SECRET_KEY is a secret in the open');
  });
  test('a secret from a file that is not mounted', () => {
    const drop = ({ pod }: Finder) => pod(closer).volumes?.[0]?.secret?.items?.pop();
    expect(faultsAfter(drop)).toContain(
      'LAPSE_REDIS_URL_FILE names /run/secrets/lapse/redis-url, which is not mounted',
    );
  });
  test('a name that is no setting, and a setting that is missing', () => {
    const misspell = ({ container }: Finder) => {
      const setting = container(closer).env?.find(({ name }) => name === 'LAPSE_REDIS_URL_FILE');
      if (setting) setting.name = 'LAPSE_REDIS_URI_FILE';
    };
    expect(faultsAfter(misspell)).toContain('LAPSE_REDIS_URI_FILE is not a setting');
    expect(faultsAfter(misspell)).toContain('LAPSE_REDIS_URL is missing');
  });
  test('service links, whose variables no process takes', () => {
    expect(faultsAfter(({ pod }) => (pod(closer).enableServiceLinks = true))).toContain('enableServiceLinks');
  });
  test('root, a writable file system, more rights than none', () => {
    const loosen = ({ pod, container }: Finder) => {
      pod(closer).securityContext = {};
      container(closer).securityContext = {};
    };
    const faults = faultsAfter(loosen);
    for (const fault of ['runAsNonRoot', 'runAsUser', 'seccompProfile', 'readOnlyRootFilesystem', 'ALL']) {
      expect(faults).toContain(fault);
    }
  });
  test('a pod of a CronJob, which is judged like any other', () => {
    const loosen = ({ resource }: Finder) => {
      const pattern = resource('CronJob/lapse-command').spec?.jobTemplate as Mutable<Resource> | undefined;
      Object.assign(pattern?.spec?.template?.spec ?? {}, { enableServiceLinks: true, volumes: [] });
    };
    const faults = faultsAfter(loosen);
    expect(faults).toContain('CronJob/lapse-command: enableServiceLinks must be false');
    expect(faults).toContain('LAPSE_REDIS_URL_FILE names /run/secrets/lapse/redis-url, which is not mounted');
  });
  test('an image without a version', () => {
    for (const image of ['lapse-closer', 'lapse-closer:latest', 'example.com:5000/lapse-closer']) {
      expect(faultsAfter(({ container }) => (container(closer).image = image))).toContain('not "latest"');
    }
  });
  test('another port than the image listens on', () => {
    expect(
      faultsAfter(({ container }) => (container(closer).ports = [{ name: 'ops', containerPort: 9000 }])),
    ).toContain('port ops is 9000, the image listens on 9400');
  });
  test('a restart for want of a store', () => {
    const swap = ({ container }: Finder) =>
      (container(closer).livenessProbe = { httpGet: { path: '/readyz', port: 'ops' } });
    expect(faultsAfter(swap)).toContain('livenessProbe must get /healthz');
  });
  test('replicas that two things decide', () => {
    expect(
      faultsAfter(({ resource }) => Object.assign(resource(closer).spec ?? {}, { replicas: 3 })),
    ).toContain('said 2 times');
  });
  test('a Service that leads nowhere', () => {
    const mislead = ({ resource }: Finder) =>
      Object.assign(resource('Service/lapse-producer').spec ?? {}, { selector: { app: 'other' } });
    expect(faultsAfter(mislead)).toContain('Service/lapse-producer: no pod');
  });
  test('no policy that denies the rest', () => {
    const allow = ({ all, resource }: Finder) =>
      all.splice(all.indexOf(resource('NetworkPolicy/lapse-default-deny')), 1);
    expect(faultsAfter(allow)).toContain('no NetworkPolicy denies');
  });
});

describe('what the published schemas do not have is a fault', () => {
  test('a misspelt field deep inside, a wrong type, a missing field, an unknown kind', () => {
    const spoil = ({ all, resource, pod, container }: Finder) => {
      Object.assign(container('Deployment/lapse-reminder'), { readynessProbe: {} });
      Object.assign(pod(closer), { terminationGracePeriodSeconds: '35' });
      delete resource('Deployment/lapse-sweeper').spec?.selector;
      const [first] = all;
      if (first) first.kind = 'Deploymint';
    };
    const faults = faultsAfter(spoil, checkShapes);
    expect(faults).toContain(
      `Deployment/lapse-reminder: Object literal may only specify known properties, and '"readynessProbe"'`,
    );
    expect(faults).toContain(
      'Deployment/lapse-closer: data/spec/template/spec/terminationGracePeriodSeconds must be integer',
    );
    expect(faults).toContain('Deployment/lapse-sweeper: data/spec must have required property selector');
    expect(faults).toContain('no schema for v1 Deploymint');
  });
});

describe('what is applied before the processes is complete', () => {
  test('and the README names its selector', () => {
    expect(readFileSync(join(rootDir, 'infra/kubernetes/README.md'), 'utf8')).toContain(
      `kubectl apply -l '${schemaFirstSelector}' -f -`,
    );
  });
  test('it lacks what the Job waits for', () => {
    const hide = ({ all }: Finder) => {
      for (const one of all.filter(({ kind }) => kind === 'ConfigMap' || kind === 'ServiceAccount'))
        one.metadata.labels = { 'lapse/process': 'true' };
    };
    expect(faultsAfter(hide)).toContain("ServiceAccount/lapse: is not applied with the schema's Job");
    expect(faultsAfter(hide)).toMatch(/ConfigMap\/lapse-settings-\w+: is not applied/);
  });
  test('it has a process', () => {
    expect(faultsAfter(({ resource }) => (resource(closer).metadata.labels = {}))).toContain(
      'Deployment/lapse-closer: would be applied before the schema',
    );
  });
});

describe('with every component', () => {
  let all: Resource[];
  beforeAll(async () => {
    const folder = join(rootDir, 'infra/deploy/test/fixtures/with-components');
    all = await render(await findKustomize(signal), folder, signal);
  });
  const spoilt = (kind: string, spec: Readonly<Record<string, unknown>>) =>
    checkResources(
      rootDir,
      all.map((one) => (one.kind === kind ? { ...one, spec: { ...one.spec, ...spec } } : one)),
    );

  test('all is right', () => {
    expect(checkShapes(all)).toEqual([]);
    expect(checkResources(rootDir, all)).toEqual([]);
  });
  test('scaling by what waits at the broker takes the place of scaling by CPU alone', () => {
    const scalers = all.filter(({ kind }) => ['HorizontalPodAutoscaler', 'ScaledObject'].includes(kind));
    expect(scalers.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort()).toEqual([
      'HorizontalPodAutoscaler/lapse-console',
      'HorizontalPodAutoscaler/lapse-producer',
      'ScaledObject/lapse-closer',
      'ScaledObject/lapse-reminder',
    ]);
  });
  test('a fallback, which KEDA does not take beside a trigger by CPU, is a fault', () => {
    expect(spoilt('ScaledObject', { fallback: { failureThreshold: 3, replicas: 2 } })).toContain(
      'ScaledObject/lapse-closer: has a fallback beside a trigger by CPU',
    );
  });
  test('a monitor that finds no process, or no port, is a fault', () => {
    const nobody = { selector: { matchLabels: { 'lapse/process': 'yes' } } };
    for (const spec of [nobody, { podMetricsEndpoints: [{ port: 'metrics' }] }])
      expect(spoilt('PodMonitor', spec)).toContain('PodMonitor/lapse: does not find Deployment/lapse-closer');
  });
  test('spans have an address, and a way to it', () => {
    const [url] = all.flatMap(({ kind, data }) =>
      kind === 'ConfigMap' ? (data?.LAPSE_TRACES_URL ?? []) : [],
    );
    const policy = all.find(({ metadata }) => metadata.name === 'lapse-traces');
    expect(policy?.spec?.egress).toMatchObject([{ ports: [{ port: Number(new URL(url ?? '').port) }] }]);
  });
});
