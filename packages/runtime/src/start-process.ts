import { ConfigError } from './config-error.ts';
import { readConfig } from './read-config.ts';
import { type ProcessContext, run } from './run.ts';
import type { Config, GroupName, TracesConfig } from './settings.ts';

/**
 * Read the settings of these groups (`process` and `traces` always are among them), then `run`. Unusable settings are
 * listed on standard error, all at once and in plain lines, and the process exits 1 before it opened anything.
 */
export async function startProcess<G extends GroupName>(
  name: string,
  groups: readonly G[],
  start: (context: ProcessContext & { readonly config: Config<G | 'process'> }) => Promise<void>,
): Promise<void> {
  const config = readOrExit(name, groups);
  await run(name, config.process, async (context) => {
    await traceWhereAsked(name, config.traces, context);
    await start({ ...context, config });
  });
}

/** Opened first of all, so that it closes last and has every span. */
async function traceWhereAsked(name: string, { url, ...config }: TracesConfig, { log, own }: ProcessContext) {
  if (url === undefined) return;
  const { openTracing } = await import('./open-tracing.ts');
  own(openTracing(name, { ...config, url }, log), 'traces');
}

type Always = 'process' | 'traces';

function readOrExit<G extends GroupName>(name: string, groups: readonly G[]): Config<G | Always> {
  try {
    return readConfig<G | Always>(process.env, [...new Set<G | Always>(['process', 'traces', ...groups])]);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${name} did not start (${error.code}). ${error.message}\n`);
    process.exit(1);
  }
}
