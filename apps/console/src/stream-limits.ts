export interface StreamLimits {
  /** Take one of the places; `release` gives it back, once. */
  take(
    userId: string,
  ):
    | { readonly kind: 'taken'; readonly release: () => void }
    | { readonly kind: 'full' }
    | { readonly kind: 'too_many' };
}

/** How many live views may be open: in all, and of one user, so that nobody takes all connections. */
export function createStreamLimits(max: {
  readonly streams: number;
  readonly perUser: number;
}): StreamLimits {
  const users = new Map<string, number>();
  let open = 0;
  return {
    take: (userId) => {
      const own = users.get(userId) ?? 0;
      if (open >= max.streams) return { kind: 'full' };
      if (own >= max.perUser) return { kind: 'too_many' };
      open += 1;
      users.set(userId, own + 1);
      let held = true;
      return {
        kind: 'taken',
        release: () => {
          if (!held) return;
          held = false;
          open -= 1;
          const left = (users.get(userId) ?? 1) - 1;
          if (left > 0) users.set(userId, left);
          else users.delete(userId);
        },
      };
    },
  };
}
