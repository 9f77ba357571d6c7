import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of turbo's run summary that are read. */
interface RunSummary {
  readonly tasks?: readonly {
    readonly taskId?: string;
    readonly execution?: { readonly exitCode?: number };
  }[];
}

/** Before a run: so that the summary found after it is of that run. */
export function clearSummaries(root: string): void {
  rmSync(summaries(root), { recursive: true, force: true });
}

/** Exit code of each task (`@lapse/stock#test`) of the last run; empty when turbo wrote no summary. */
export function readExitCodes(root: string): ReadonlyMap<string, number> {
  const codes = new Map<string, number>();
  const dir = summaries(root);
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const { tasks = [] } = JSON.parse(readFileSync(join(dir, name), 'utf8')) as RunSummary;
    for (const { taskId, execution } of tasks) {
      if (taskId !== undefined && execution?.exitCode !== undefined) codes.set(taskId, execution.exitCode);
    }
  }
  return codes;
}

function summaries(root: string): string {
  return join(root, '.turbo', 'runs');
}
