import { brief } from './brief.ts';
import type { FaultName, Faults } from './faults.ts';
import { ActivityLockedError } from './model-ledger.ts';
import type { Random } from './random.ts';
import type { Incarnation, Scheduler } from './scheduler.ts';

export interface CallParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  /** Writes down what happens; the text is made only when somebody reads it. */
  readonly trace: (who: string, what: () => string) => void;
  /** Called with each answer that a process gets, before it goes on: here it may die. */
  readonly onAnswer: (owner: Incarnation) => void;
  /** Called when the effect of a call has come about: the oracle looks. */
  readonly onEffect: (owner: Incarnation, effect: () => unknown) => unknown;
}

/** What may become of a call on its way, and the error that its caller then gets. */
export interface CallRisks {
  readonly slow: FaultName;
  /** No effect, and the caller knows. */
  readonly refused?: readonly [FaultName, () => Error];
  /** No effect, and the caller does not know. */
  readonly lost?: readonly [FaultName, () => Error];
  /** Done, and the caller does not know. */
  readonly answerLost?: readonly [FaultName, () => Error];
  /** Done after the caller has given up. */
  readonly late?: readonly [FaultName, () => Error];
  readonly doubled?: FaultName;
  /** The caller's patience while the rows that it needs are locked: then `error`, if the last try met the lock too. */
  readonly lockWait?: { readonly ms: number; readonly error: () => Error };
}

type CallStore = <T>(
  owner: Incarnation,
  what: string,
  risks: CallRisks,
  /** @param isLastTry the lock was waited for as long as the caller will. */
  effect: (isLastTry: boolean) => T,
) => Promise<T>;

/** How long a caller waits before it takes a call for lost, in milliseconds. */
const patienceMs = { min: 500, max: 2_000 };
/** How late a call may still take effect: a packet sent again by the kernel, a server that stood still. */
const lateMsMax = 40_000;
const lookAtLockMs = 50;

/**
 * Every call to a store is two steps, its arrival there and its answer here, and the scheduler orders both among
 * everything else. Between them the caller may die; the store does not mind.
 */
export function createCallStore(parts: CallParts): CallStore {
  const { scheduler, random, faults, trace, onAnswer, onEffect } = parts;

  function latency(slow: FaultName): number {
    if (faults.strikes(slow)) return random.int(100, 3_000);
    return random.chance(0.9) ? random.int(0, 3) : random.int(3, 40);
  }

  return (owner, what, risks, effect) =>
    new Promise((resolve, reject) => {
      const strikes = (risk: readonly [FaultName, () => Error] | undefined): (() => Error) | undefined =>
        risk && faults.strikes(risk[0]) ? risk[1] : undefined;

      const answer = (delayMs: number, how: string, settle: () => void): void => {
        scheduler.after(delayMs, owner, () => {
          trace(owner.name, () => `${what}: ${how}`);
          onAnswer(owner);
          if (owner.frozen) scheduler.after(0, owner, settle);
          else if (owner.alive) settle();
        });
      };
      const fail = (delayMs: number, error: () => Error): void =>
        answer(delayMs, 'fails', () => reject(error()));

      const arrive = (delayMs: number, heard: boolean, waitedMs = 0): void => {
        scheduler.after(delayMs, null, () => {
          // Still in the dead process's own buffers, or already on its way.
          if (!owner.alive && waitedMs === 0 && random.chance(0.5)) return;
          try {
            const isLastTry = waitedMs >= (risks.lockWait?.ms ?? 0);
            const result = onEffect(owner, () => effect(isLastTry)) as ReturnType<typeof effect>;
            trace('  store', () => `${what} of ${owner.name} -> ${brief(result)}`);
            if (heard) answer(latency(risks.slow), 'answered', () => resolve(result));
          } catch (error) {
            if (!(error instanceof ActivityLockedError)) {
              if (heard) answer(latency(risks.slow), String(error), () => reject(error));
            } else if (risks.lockWait && waitedMs < risks.lockWait.ms) {
              arrive(lookAtLockMs, heard, waitedMs + lookAtLockMs);
            } else if (heard) fail(0, risks.lockWait?.error ?? (() => error as Error));
          }
        });
      };

      const patience = random.int(patienceMs.min, patienceMs.max);
      const refused = strikes(risks.refused);
      if (refused) return fail(latency(risks.slow), refused);
      const lost = strikes(risks.lost);
      if (lost) return fail(patience, lost);
      const late = strikes(risks.late);
      if (late) {
        fail(patience, late);
        return arrive(random.int(0, lateMsMax), false);
      }
      const answerLost = strikes(risks.answerLost);
      if (answerLost) {
        fail(patience, answerLost);
        return arrive(latency(risks.slow), false);
      }
      if (risks.doubled && faults.strikes(risks.doubled)) arrive(random.int(0, lateMsMax), false);
      arrive(latency(risks.slow), true);
    });
}
