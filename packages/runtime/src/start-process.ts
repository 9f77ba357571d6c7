import { ConfigError } from './config-error.ts';
import { readConfig } from './read-config.ts';
import { type ProcessContext, run } from './run.ts';
import type { Config, GroupName } from './settings.ts';

/**
 * Read the settings of these groups (`process` always is one of them), then `run`. Unusable settings are
 * listed on standard error, all at once and in plain lines, and the process exits 1 before it opened anything.
 */
export async function startProcess<G extends GroupName>(
  name: string,
  groups: readonly G[],
  start: (context: ProcessContext & { readonly config: Config<G | 'process'> }) => Promise<void>,
): Promise<void> {
  const config = readOrExit(name, groups);
  await run(name, config.process, (context) => start({ ...context, config }));
}

function readOrExit<G extends GroupName>(name: string, groups: readonly G[]): Config<G | 'process'> {
  try {
    return readConfig<G | 'process'>(process.env, [...new Set<G | 'process'>(['process', ...groups])]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${name} did not start (${error.code}). ${error.message}\n`);
    process.exit(1);
  }
}
