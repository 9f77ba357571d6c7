import { readUsage } from '../process-usage.ts';

export interface CpuTimes {
  readonly mysqlUs: number;
  /** Of this process. */
  readonly nodeUs: number;
}
export type Cpu = () => CpuTimes;

/** CPU time of the server and of this process, in microseconds since their start: others on the machine do not count. */
export function readCpuOf(mysqlPid: number): Cpu {
  return () => {
    const usage = readUsage(mysqlPid);
    if (usage === undefined) throw new Error(`process ${mysqlPid} is not there, or this system has no /proc`);
    const { user, system } = process.cpuUsage();
    return { mysqlUs: usage.cpuUs, nodeUs: user + system };
  };
}
