import { checkImages, type ImageReport } from './check-images.ts';
import { checkManifests } from './check-manifests.ts';
import { images } from './images.ts';
import type { Stores } from './shop-settings.ts';

export interface DeployResult {
  readonly reports: readonly ImageReport[];
  readonly faults: readonly string[];
  /** `deploy: images=8/8 manifests=ok` */
  readonly line: string;
  readonly ok: boolean;
}

/** Everything that is deployed: each image's tree starts from itself alone, and the manifests are right. */
export async function checkDeploy(root: string, stores: Stores, signal: AbortSignal): Promise<DeployResult> {
  const manifests = await checkManifests(root, signal);
  const { reports, good, faults } = await checkImages(root, stores, signal);
  return {
    reports,
    faults: [...manifests, ...faults],
    line: `deploy: images=${good}/${images.length} manifests=${manifests.length === 0 ? 'ok' : 'FAILED'}`,
    ok: manifests.length === 0 && faults.length === 0,
  };
}
