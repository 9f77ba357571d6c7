import type { SettleResult, StoredAnswer } from '@lapse/order-repository';

/** For a test that looks at what an operator's request did, not at what it is answered. */
export const noAnswer = (): StoredAnswer => ({ status: 200, body: Buffer.from('{}') });

/** What became of the rows that an operator settled. @throws when the request was a repeat. */
export async function outcomesOf<Outcome>(
  asked: Promise<SettleResult<Outcome>>,
): Promise<readonly Outcome[]> {
  const settled = await asked;
  if (settled.kind !== 'done') throw new Error(`nothing was settled: ${settled.kind}`);
  return settled.result;
}
