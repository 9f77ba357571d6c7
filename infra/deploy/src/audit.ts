import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export type AuditResult =
  | { readonly kind: 'clean' }
  | { readonly kind: 'vulnerable'; readonly report: string }
  /** The registry has no such service, or there is no network: nothing is known. */
  | { readonly kind: 'unanswered'; readonly why: string };

const timeoutMs = 60_000;
const textMax = 20_000;

/** Ask the registry for known faults, `moderate` and worse, in what production uses. Never rejects. */
export async function audit(root: string, signal: AbortSignal): Promise<AuditResult> {
  const pnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  const child = spawn(process.execPath, [pnpm, 'audit', '--prod', '--audit-level=moderate'], {
    ...{ cwd: root, timeout: timeoutMs, signal },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const append = (chunk: string): void => {
    output = (output + chunk).slice(0, textMax);
  };
  child.stdout.setEncoding('utf8').on('data', append);
  child.stderr.setEncoding('utf8').on('data', append);
  const code = await once(child, 'close').then(
    ([status]) => status as number | null,
    () => null,
  );
  return judgeAudit(code, output);
}

/** Exit code 1 means both "found something" and "could not ask"; the text tells them apart. */
export function judgeAudit(code: number | null, output: string): AuditResult {
  if (code === 0) return { kind: 'clean' };
  if (/\d+ vulnerabilit/.test(output)) return { kind: 'vulnerable', report: output.trim() };
  const [why = ''] = output.split('\n').filter((line) => line.includes('ERR_'));
  return { kind: 'unanswered', why: why.trim() || output.trim() || 'no answer in time' };
}
