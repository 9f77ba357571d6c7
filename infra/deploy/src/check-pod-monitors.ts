import { appOf } from './check-process-pod.ts';
import { nameOf, type Resource } from './resource.ts';

interface PodMonitorSpec {
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly podMetricsEndpoints?: readonly { readonly port?: string }[];
}

/** A PodMonitor must find every process of ours that stays, at a port that it has. */
export function checkPodMonitors(resources: readonly Resource[]): string[] {
  const deployments = resources.filter(({ kind }) => kind === 'Deployment');
  const ours = deployments.filter(({ spec }) =>
    spec?.template?.spec.containers.some(({ image }) => appOf(image) !== undefined),
  );
  return resources
    .filter(({ kind }) => kind === 'PodMonitor')
    .flatMap((monitor) => {
      const { selector, podMetricsEndpoints = [] } = (monitor.spec ?? {}) as PodMonitorSpec;
      const wanted = Object.entries(selector?.matchLabels ?? {});
      const scraped = (deployment: Resource): boolean => {
        const { metadata, spec } = deployment.spec?.template ?? {};
        const names = spec?.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)) ?? [];
        return (
          wanted.every(([label, value]) => metadata?.labels?.[label] === value) &&
          podMetricsEndpoints.some(({ port }) => names.includes(port))
        );
      };
      return ours
        .filter((deployment) => !scraped(deployment))
        .map((deployment) => `${nameOf(monitor)}: does not find ${nameOf(deployment)}`);
    });
}
