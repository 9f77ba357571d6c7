import { appOf } from './check-process-pod.ts';
import { nameOf, type Resource } from './resource.ts';

/** What the README applies before the processes of a version: all but what has this label. */
export const schemaFirstSelector = 'lapse/process!=true';

/**
 * The schema's Job is applied before the processes, by a selector: it must be among what that selects, with everything
 * that its pod waits for (a pod without its ConfigMap waits for ever), and none of the processes must be.
 */
export function checkSchemaFirst(resources: readonly Resource[]): string[] {
  const first = resources.filter(({ metadata }) => metadata.labels?.['lapse/process'] !== 'true');
  const job = resources.find(({ kind, metadata }) => kind === 'Job' && metadata.name === 'lapse-schema');
  if (job === undefined) return ['no Job lapse-schema'];
  const early = first.filter(
    ({ kind, spec }) =>
      kind === 'Deployment' &&
      spec?.template?.spec.containers.some(({ image }) => appOf(image) !== undefined),
  );
  const late = [nameOf(job), ...neededBy(job)].filter(
    (name) => !first.some((resource) => nameOf(resource) === name),
  );
  // Made by whoever deploys, beforehand.
  const given = (name: string): boolean =>
    name.startsWith('Secret/') && !resources.some((resource) => nameOf(resource) === name);
  return [
    ...early.map(
      (resource) => `${nameOf(resource)}: would be applied before the schema: label it lapse/process`,
    ),
    ...late.filter((name) => !given(name)).map((name) => `${name}: is not applied with the schema's Job`),
  ];
}

function neededBy(job: Resource): string[] {
  const pod = job.spec?.template?.spec;
  const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
  const configMaps = containers.flatMap(({ envFrom = [] }) =>
    envFrom.map(({ configMapRef }) => configMapRef),
  );
  const secrets = pod?.volumes?.map(({ secret }) => secret?.secretName) ?? [];
  return [
    ...new Set([
      `ServiceAccount/${pod?.serviceAccountName ?? 'default'}`,
      ...configMaps.flatMap((one) => (one === undefined ? [] : [`ConfigMap/${one.name}`])),
      ...secrets.flatMap((name) => (name === undefined ? [] : [`Secret/${name}`])),
    ]),
  ];
}
