const wanted = process.env.SEED_DIE_AT;

/** Ends the process by SIGKILL when it passes the point that SEED_DIE_AT names, as a lost machine would. */
export function dieAt(point: string): void {
  if (point === wanted) process.kill(process.pid, 'SIGKILL');
}
