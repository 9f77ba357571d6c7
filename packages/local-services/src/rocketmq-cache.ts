import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readJson } from './write-json.ts';

export const rocketmqVersion = '5.5.0';

/** Where downloads are kept: LAPSE_CACHE_DIR, or the user's cache folder. Outside the project on purpose. */
export function defaultCacheDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env.LAPSE_CACHE_DIR) return env.LAPSE_CACHE_DIR;
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'lapse');
}

/** The folder of this version, with `lib/` and a marker that is written last. */
export function rocketmqFolder(cacheDir: string = defaultCacheDir()): string {
  return join(cacheDir, `rocketmq-${rocketmqVersion}`);
}

/** Whether a whole copy is there: the marker, and as many libraries as it counted. */
export function isRocketmqCached(cacheDir?: string): boolean {
  const folder = rocketmqFolder(cacheDir);
  const marker = readJson(join(folder, markerName));
  if (typeof marker !== 'object' || marker === null || !('jars' in marker)) return false;
  return countJars(join(folder, 'lib')) === marker.jars;
}

export const markerName = 'complete.json';

export function countJars(lib: string): number {
  return existsSync(lib) ? readdirSync(lib).filter((name) => name.endsWith('.jar')).length : 0;
}
