/** What both workers' batches can come to beside being done, each as the orders concerned. */
interface Undone {
  readonly notDue: readonly unknown[];
  readonly settling: readonly unknown[];
  readonly contended: readonly unknown[];
  readonly settled: readonly unknown[];
  readonly unknown: readonly unknown[];
  readonly parked: readonly unknown[];
}

/** Report how many orders of a batch had each outcome; an outcome that none had is left out. */
export function countOutcomes(
  done: Readonly<Record<string, number>>,
  { notDue, settling, contended, settled, unknown, parked }: Undone,
  report: (outcome: string, count: number) => void,
): void {
  const counts = {
    ...done,
    not_due: notDue.length,
    settling: settling.length,
    contended: contended.length,
    settled: settled.length,
    unknown: unknown.length,
    parked: parked.length,
  };
  for (const [outcome, count] of Object.entries(counts)) {
    if (count > 0) report(outcome, count);
  }
}
