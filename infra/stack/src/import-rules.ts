import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runProgram } from './run-program.ts';

export interface ImportRules {
  readonly violations: readonly string[];
  /** Source files that exist but that the check did not see: then its silence proves nothing. */
  readonly unseen: readonly string[];
  readonly filesSeen: number;
}

/** The parts of dependency-cruiser's JSON that are read. */
interface CruiseResult {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string; readonly severity: string };
    }[];
  };
}

const folders = ['apps', 'packages', 'infra'] as const;

/**
 * Hold the import rules of `.dependency-cruiser.cjs` against every source file of a work tree, and
 * prove that every one of them was looked at: with a compiler that it cannot load, the tool sees
 * no module and passes.
 * @throws {Error} when the tool itself fails.
 */
export async function checkImportRules(root: string, signal?: AbortSignal): Promise<ImportRules> {
  const tool = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const { output } = await runProgram(process.execPath, [tool, ...folders, '--output-type', 'json'], {
    cwd: root,
    ...(signal && { signal }),
  });
  const { modules, summary } = parse(output);
  const seen = new Set(modules.map(({ source }) => source));
  const sources = listSources(root);
  return {
    violations: summary.violations
      .filter(({ rule }) => rule.severity === 'error')
      .map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
    unseen: sources.filter((file) => !seen.has(file)),
    filesSeen: sources.filter((file) => seen.has(file)).length,
  };
}

function parse(output: string): CruiseResult {
  try {
    return JSON.parse(output) as CruiseResult;
  } catch (error) {
    throw new Error(`dependency-cruiser did not answer with JSON: ${output.slice(0, 2_000)}`, {
      cause: error,
    });
  }
}

/** Every TypeScript file of sources and tests, relative to the root, with forward slashes. */
function listSources(root: string): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((file) => /^[^/]+\/[^/]+\/(src|test)\//.test(file)),
  );
}
