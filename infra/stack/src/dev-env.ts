import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The settings of the apps as a file for a shell, so that one app can be run by hand beside the
 * stack: `set -a; . .lapse/dev.env; set +a; pnpm --filter @lapse/closer start`. For its owner alone.
 */
export async function writeDevEnv(dataDir: string, env: NodeJS.ProcessEnv): Promise<void> {
  const lines = Object.entries(env)
    .filter(([name]) => name.startsWith('LAPSE_'))
    .map(([name, value = '']) => `${name}='${value.replaceAll("'", "'\\''")}'`);
  await writeFile(join(dataDir, 'dev.env'), `${lines.join('\n')}\n`, { mode: 0o600 });
}
