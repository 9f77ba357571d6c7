import { CommitUnknownError, isUnavailable } from './errors.ts';

/** Orders that fail alone in one call. Then it ends: each costs transactions that the others wait for. */
const failuresMax = 32;

export interface Failure {
  readonly id: string;
  readonly error: unknown;
}

export interface Bisected<Result> {
  readonly results: readonly Result[];
  /** Ids whose transaction fails even alone. */
  readonly failures: readonly Failure[];
  /** Ids that were not come to, because so many failed before. */
  readonly untried: readonly string[];
}

/**
 * Try all ids together; when that fails, each half, down to single ids. So one bad order costs its
 * neighbours about 2 log2(n) transactions and nothing else. Parts that succeeded stay committed. After `failuresMax`
 * failures the rest is left `untried`: with the failed ones set aside, the next call gets further.
 * @throws at once when MySQL is away or a commit is unknown: smaller parts would not help.
 */
export async function bisect<Result>(
  ids: readonly string[],
  attempt: (part: readonly string[]) => Promise<Result>,
): Promise<Bisected<Result>> {
  const results: Result[] = [];
  const failures: Failure[] = [];
  const parts: (readonly string[])[] = [ids];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      results.push(await attempt(part));
    } catch (error) {
      if (isUnavailable(error) || error instanceof CommitUnknownError) throw error;
      const [id] = part;
      if (part.length === 1 && id !== undefined) {
        failures.push({ id, error });
        if (failures.length >= failuresMax) return { results, failures, untried: parts.reverse().flat() };
      } else {
        const middle = Math.ceil(part.length / 2);
        parts.push(part.slice(middle), part.slice(0, middle));
      }
    }
  }
  return { results, failures, untried: [] };
}
