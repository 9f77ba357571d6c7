/** Under which several processes of a kind are reported: `worker`, `worker-2`. */
export function workerNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? 'worker' : `worker-${index + 1}`));
}
