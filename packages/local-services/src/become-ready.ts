import { setTimeout as sleep } from 'node:timers/promises';
import { LocalServiceError } from './local-service-error.ts';
import type { ProgramPlan } from './program-plan.ts';
import type { OwnedProcess, ProcessExit } from './spawn-owned.ts';

const pollMs = 50;

/** Wait until the program answers. Its early exit, the time limit and a stop each end the wait at once. */
export async function becomeReady(
  service: string,
  plan: ProgramPlan,
  child: OwnedProcess,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + plan.readyTimeoutMs;
  for (let isReady = false; !isReady; ) {
    isReady = await plan.ready().catch(() => false);
    if (signal.aborted) throw cutShortError(service);
    // Checked even when something answered: it may be another server on the same port.
    if (child.exited !== undefined) {
      throw startFailed(
        service,
        `${plan.name} exited (${describeExit(child.exited)}) before it was ready`,
        plan,
        child,
      );
    }
    if (!isReady && Date.now() >= deadline) {
      throw startFailed(
        service,
        `${plan.name} did not answer within ${plan.readyTimeoutMs / 1000} s`,
        plan,
        child,
      );
    }
    if (!isReady) await sleep(pollMs);
  }
}

export function cutShortError(service: string): LocalServiceError {
  return new LocalServiceError('LAPSE_SERVICE_STOPPED', `${service} was stopped before it was ready`);
}

export function startFailed(
  service: string,
  what: string,
  plan?: ProgramPlan,
  child?: OwnedProcess,
): LocalServiceError {
  const hint = plan?.hint === undefined ? '' : ` ${plan.hint}`;
  const log =
    child === undefined
      ? ''
      : `\nLog: ${child.logFile}, last lines:\n${child.logTail() || '(it wrote nothing)'}`;
  return new LocalServiceError(
    'LAPSE_SERVICE_START_FAILED',
    `${service} did not start: ${what}.${hint}${log}`,
  );
}

/** "code 1" or "signal SIGKILL". */
export function describeExit(exit: ProcessExit): string {
  return exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
}
