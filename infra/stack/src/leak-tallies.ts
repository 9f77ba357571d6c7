import { sleep } from '@lapse/runtime';
import { countConnections, findLeakedProcesses } from './find-leaks.ts';
import type { Tally } from './vitest-reports.ts';

/** A test process that is just ending needs a moment; one that is still there after this is a leak. */
const settleMs = 3_000;
const pollMs = 100;

/**
 * After the last test: no process of this run, and no connection to its servers, may be left. Leaked
 * processes are killed, so that one leak does not spoil the next run.
 */
export async function countLeaks(runId: string, ports: Readonly<Record<string, number>>): Promise<Tally[]> {
  const deadline = Date.now() + settleMs;
  let faults = findFaults(runId, ports);
  while (faults.length > 0 && Date.now() < deadline) {
    await sleep(pollMs);
    faults = findFaults(runId, ports);
  }
  for (const { pid } of findLeakedProcesses(runId)) kill(pid);
  return [
    {
      name: 'nothing leaked',
      passed: faults.length === 0 ? 1 : 0,
      failed: faults.length === 0 ? 0 : 1,
      skipped: 0,
      faults,
    },
  ];
}

function findFaults(runId: string, ports: Readonly<Record<string, number>>): string[] {
  const processes = findLeakedProcesses(runId).map(
    ({ pid, command }) => `process ${pid} is left: ${command}`,
  );
  const connections = Object.entries(ports)
    .map(([name, port]) => ({ name, open: countConnections(port) }))
    .filter(({ open }) => open > 0)
    .map(({ name, open }) => `${open} connections to ${name} are left open`);
  return [...processes, ...connections];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
