import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { checkPodMonitors } from './check-pod-monitors.ts';
import { appOf, checkProcessPod, isPinned } from './check-process-pod.ts';
import { checkSchemaFirst } from './check-schema-first.ts';
import { checkShapes } from './check-shapes.ts';
import { DeployError } from './deploy-error.ts';
import { findKustomize, type Kustomize } from './find-kustomize.ts';
import { images, trialOnly } from './images.ts';
import { nameOf, type Resource, withTemplate } from './resource.ts';
import { runCommand } from './run-command.ts';

export const overlays = ['infra/kubernetes/overlays/dev', 'infra/kubernetes/overlays/production'] as const;

/** Render each overlay and check what came out. @returns each fault, behind the overlay's folder. */
export async function checkKubernetes(root: string, signal: AbortSignal): Promise<string[]> {
  const kustomize = await findKustomize(signal);
  const faults: string[] = [];
  for (const overlay of overlays) {
    const resources = await render(kustomize, join(root, overlay), signal);
    const wanted = images.filter(({ app }) => overlay.endsWith('/dev') || !trialOnly.includes(app));
    const found = [
      ...checkShapes(resources),
      ...checkResources(root, resources),
      ...findMissing(
        resources,
        wanted.map(({ app }) => app),
      ),
    ];
    faults.push(...found.map((fault) => `${overlay}: ${fault}`));
  }
  return faults;
}

/** @throws {DeployError} LAPSE_DEPLOY_MANIFEST when it does not render, or not to YAML. */
export async function render(kustomize: Kustomize, folder: string, signal: AbortSignal): Promise<Resource[]> {
  const [program, ...args] = kustomize;
  const text = await runCommand('LAPSE_DEPLOY_MANIFEST', program, [...args, folder], {
    ...{ cwd: folder, env: process.env, signal },
  });
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new DeployError('LAPSE_DEPLOY_MANIFEST', `${folder}: ${error.message}`);
    return document.toJS() as Resource;
  });
}

/** The rules of this repository, beyond what the schemas say. */
export function checkResources(root: string, resources: readonly Resource[]): string[] {
  const workloads = resources.map(withTemplate).filter(({ spec }) => spec?.template !== undefined);
  return [
    ...workloads.flatMap((workload) => checkProcessPod(root, workload, resources)),
    ...workloads.flatMap((workload) => checkImagesPinned(workload)),
    ...workloads.filter(isScaled).flatMap((workload) => checkReplicas(workload, resources)),
    ...resources.filter(({ kind }) => kind === 'ScaledObject').flatMap(checkFallback),
    ...checkServices(resources),
    ...checkPodMonitors(resources),
    ...checkSchemaFirst(resources),
    ...checkDefaultDeny(resources),
  ];
}

function isScaled({ kind, spec }: Resource): boolean {
  return kind === 'Deployment' && (spec?.template?.spec.containers ?? []).some(({ image }) => appOf(image));
}

function checkImagesPinned(workload: Resource): string[] {
  const { containers = [], initContainers = [] } = workload.spec?.template?.spec ?? {};
  return [...initContainers, ...containers]
    .filter(({ image }) => !isPinned(image))
    .map(({ image }) => `${nameOf(workload)}: image ${image} must have a tag, and not "latest"`);
}

/** Replicas are said once: by the Deployment, or by what scales it. A second one would undo the first at each apply. */
function checkReplicas(workload: Resource, resources: readonly Resource[]): string[] {
  const scalers = resources.filter(
    ({ kind, spec }) =>
      ['HorizontalPodAutoscaler', 'ScaledObject'].includes(kind) &&
      (spec?.scaleTargetRef as { readonly name?: string } | undefined)?.name === workload.metadata.name,
  );
  const said = scalers.length + (workload.spec?.replicas === undefined ? 0 : 1);
  return said === 1
    ? []
    : [`${nameOf(workload)}: its replicas are said ${said} times: by itself or by one scaler`];
}

/** KEDA refuses a fallback beside a trigger by CPU, or scales to exactly its number whatever the CPU says. */
function checkFallback(scaler: Resource): string[] {
  const { fallback, triggers = [] } = (scaler.spec ?? {}) as {
    readonly fallback?: unknown;
    readonly triggers?: readonly { readonly type: string }[];
  };
  const byPod = triggers.some(({ type }) => type === 'cpu' || type === 'memory');
  return fallback !== undefined && byPod ? [`${nameOf(scaler)}: has a fallback beside a trigger by CPU`] : [];
}

/** A Service must lead to a port that pods of its selector have. */
function checkServices(resources: readonly Resource[]): string[] {
  return resources
    .filter(({ kind }) => kind === 'Service')
    .flatMap((service) => {
      const wanted = Object.entries((service.spec?.selector ?? {}) as Record<string, string>);
      const pods = resources.filter(({ spec }) =>
        wanted.every(([label, value]) => spec?.template?.metadata?.labels?.[label] === value),
      );
      const ports = pods
        .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
        .flatMap((one) => one.ports ?? []);
      return (service.spec?.ports ?? [])
        .map(({ port, targetPort = port }) => targetPort)
        .filter((target) => !ports.some((one) => one.name === target || one.containerPort === target))
        .map((target) => `${nameOf(service)}: no pod that it selects has port ${target}`);
    });
}

function checkDefaultDeny(resources: readonly Resource[]): string[] {
  const denies = resources.some(({ kind, spec }) => {
    if (kind !== 'NetworkPolicy' || spec === undefined) return false;
    const all = JSON.stringify(spec.podSelector) === '{}';
    return all && spec.ingress === undefined && spec.egress === undefined;
  });
  return denies ? [] : ['no NetworkPolicy denies what is not named'];
}

function findMissing(resources: readonly Resource[], apps: readonly string[]): string[] {
  const there = resources.flatMap(({ spec }) => {
    const { containers = [], initContainers = [] } = spec?.template?.spec ?? {};
    return [...containers, ...initContainers].map(({ image }) => appOf(image));
  });
  return apps.filter((app) => !there.includes(app)).map((app) => `nothing runs the image of ${app}`);
}
