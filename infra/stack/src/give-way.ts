import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const lowest = constants.priority.PRIORITY_LOW;

/**
 * Let a process that leads a session of its own run only when nobody else wants a processor, with all that it starts
 * from now on. Most Linux kernels share the processors out among sessions first, and there niceness counts within a
 * session alone: beside a busy one, a nice session took half of a core all the same. So the session itself is made nice.
 * Does nothing more where there is no such thing, or when the process has ended.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, lowest);
    writeFileSync(`/proc/${pid}/autogroup`, String(lowest));
  } catch {
    // It has ended, or this kernel knows no groups: then its own priority is all that counts.
  }
}
