/** A seeded source of numbers: the same seed gives the same numbers in the same order. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number, both ends included. */
  whole(from: number, to: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** A new list in random order. */
  shuffle<T>(list: readonly T[]): T[];
}

/** mulberry32: 32 bits of state, which is plenty for a plan of a few thousand choices. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    whole,
    chance: (share) => next() < share,
    pick: (list) => {
      const picked = list[whole(0, list.length - 1)];
      if (picked === undefined) throw new RangeError('Nothing to pick from.');
      return picked;
    },
    shuffle: (list) => {
      const left = [...list];
      for (let at = left.length - 1; at > 0; at -= 1) {
        const other = whole(0, at);
        [left[at], left[other]] = [left[other] as never, left[at] as never];
      }
      return left;
    },
  };
}
