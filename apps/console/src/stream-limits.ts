export interface Watcher {
  readonly userId: string;
  /** Of a guest: where it comes from. Guests are made for the asking, so a bound for each of them alone bounds nobody. */
  readonly address?: string | undefined;
}

export type StreamPlace =
  | { readonly kind: 'taken'; readonly release: () => void }
  | { readonly kind: 'full' | 'full_for_user' | 'full_for_address' };

export interface StreamLimits {
  /** Take one of the places; `release` gives it back, once. */
  take(watcher: Watcher): StreamPlace;
}

/** How many live views may be open: in all, of one user, and of the guests of one address, so that nobody takes all. */
export function createStreamLimits(max: {
  readonly streams: number;
  readonly perUser: number;
  readonly perAddress: number;
}): StreamLimits {
  const users = createTally();
  const addresses = createTally();
  let open = 0;
  return {
    take: ({ userId, address }) => {
      if (open >= max.streams) return { kind: 'full' };
      if (users.of(userId) >= max.perUser) return { kind: 'full_for_user' };
      if (addresses.of(address) >= max.perAddress) return { kind: 'full_for_address' };
      const count = (by: 1 | -1): void => {
        open += by;
        users.add(userId, by);
        addresses.add(address, by);
      };
      count(1);
      let held = true;
      return {
        kind: 'taken',
        release: () => {
          if (held) count(-1);
          held = false;
        },
      };
    },
  };
}

/** Counts by name, those of nobody not at all; keeps no name that counts nothing. */
function createTally() {
  const counts = new Map<string, number>();
  const of = (name: string | undefined): number => (name === undefined ? 0 : (counts.get(name) ?? 0));
  return {
    of,
    add: (name: string | undefined, by: number): void => {
      if (name === undefined) return;
      const left = of(name) + by;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    },
  };
}
