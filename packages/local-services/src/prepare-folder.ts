import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { LocalServiceError } from './local-service-error.ts';
import { findInUse, reapLeftovers } from './process-registry.ts';

/**
 * Make the data folder of one service ready: create it, stop what a killed run left in it, and refuse
 * when its server still runs under a living parent.
 * @returns the absolute path.
 */
export async function prepareFolder(folder: string, log: (line: string) => void): Promise<string> {
  const dir = resolve(folder);
  mkdirSync(dir, { recursive: true });
  const [inUse] = findInUse(dir);
  if (inUse !== undefined) {
    throw new LocalServiceError(
      'LAPSE_FOLDER_LOCKED',
      `${dir} is in use: ${inUse.name} (pid ${inUse.pid}) of process ${inUse.parent.pid} runs there. ` +
        'Stop that process first, or choose another folder.',
    );
  }
  await reapLeftovers(dir, { log });
  return dir;
}
