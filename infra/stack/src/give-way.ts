import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** A ninth of the share of another session: the lowest got 1.7% of a core on a full machine, too little for any timeout. */
const low = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Let a process that leads a session of its own, with all that it starts from now on, take what others leave of the
 * processors, and little where they leave nothing. Most Linux kernels share the processors out among sessions first,
 * and there niceness counts within a session alone: beside a busy one, a nice session took half of a core all the same.
 * So the session itself is made nice. Does nothing more where there is no such thing, or when the process has ended.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, low);
    writeFileSync(`/proc/${pid}/autogroup`, String(low));
  } catch {
    // It has ended, or this kernel knows no groups: then its own priority is all that counts.
  }
}
