import { checkBuildContext } from './check-build-context.ts';
import { checkCompose } from './check-compose.ts';
import { checkDockerfile } from './check-dockerfile.ts';
import { checkKubernetes } from './check-kubernetes.ts';

/** @returns each fault of the Dockerfile, the compose files and the Kubernetes manifests; none when all is right. */
export async function checkManifests(root: string, signal: AbortSignal): Promise<string[]> {
  return [
    ...checkDockerfile(root),
    ...checkBuildContext(root),
    ...checkCompose(root),
    ...(await checkKubernetes(root, signal)),
  ];
}
