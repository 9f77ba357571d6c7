import type { AtOnce, Ledger } from './model-ledger.ts';

type Operations = AtOnce<
  'claimOutbox' | 'listPendingEffects' | 'markEffectsApplied' | 'markOutboxFailed' | 'markOutboxSent'
>;

/** What a commit still owes Redis and the broker. */
export function queues({ tables, now }: Ledger): Operations {
  const { effects, outbox } = tables;
  return {
    listPendingEffects: ({ olderThanMs, limit }) => {
      const left = [...effects.values()]
        .filter(({ createdAtMs }) => createdAtMs <= now() - olderThanMs)
        .sort((a, b) => a.attempts - b.attempts || a.createdAtMs - b.createdAtMs)
        .slice(0, limit);
      for (const row of left) row.attempts += 1;
      return left.map(({ effect }) => effect);
    },
    markEffectsApplied: (done) => {
      for (const id of done) effects.delete(id);
    },
    claimOutbox: ({ olderThanMs, limit, leaseMs }) => {
      const free = [...outbox.values()]
        .filter(({ sentAtMs, createdAtMs }) => sentAtMs === null && createdAtMs <= now() - olderThanMs)
        .filter(({ claimedUntilMs }) => claimedUntilMs === null || claimedUntilMs <= now())
        .sort((a, b) => a.createdAtMs - b.createdAtMs)
        .slice(0, limit);
      for (const row of free) {
        row.claimedUntilMs = now() + leaseMs;
        row.attempts += 1;
      }
      return free.map(({ id, phase, orders }) => ({ id, phase, orders }));
    },
    markOutboxSent: (sent) => {
      for (const { id } of sent) {
        const row = outbox.get(id);
        if (row) row.sentAtMs ??= now();
      }
    },
    markOutboxFailed: (failed) => {
      for (const id of failed) {
        const row = outbox.get(id);
        if (row?.sentAtMs !== null) continue;
        row.claimedUntilMs = now() + Math.min(Math.max(row.attempts, 1), 5) * 1_000;
      }
    },
  };
}
