import { queryDatabase } from '@lapse/testing';
import type { Faults } from './judge-ledger.ts';
import type { ChaosServices } from './open-services.ts';
import { sendToRedis } from './send-to-redis.ts';

/** One thing broken by hand, and the field of the closing line that must show it. */
export interface Sabotage {
  readonly name: string;
  readonly field: keyof Faults;
  readonly apply: (services: ChaosServices) => Promise<unknown>;
}

/**
 * Negative controls of the harness itself: made at rest, once nobody is left to heal them. A harness that can say
 * nothing but zero proves nothing.
 */
export const sabotages: readonly Sabotage[] = [
  {
    // Both stores agree that these never were: only the ledger of those who were promised them can tell.
    name: 'cancelled orders gone without a trace',
    field: 'lost',
    apply: async ({ mysqlUrl }) => {
      const cancelled = "SELECT id FROM orders WHERE status = 'CANCELLED'";
      for (const table of ['order_transition', 'notification', 'payment']) {
        await queryDatabase(mysqlUrl, `DELETE FROM ${table} WHERE order_id IN (${cancelled})`);
      }
      await queryDatabase(mysqlUrl, "DELETE FROM orders WHERE status = 'CANCELLED'");
    },
  },
  {
    name: 'a place given back twice in Redis',
    field: 'lost',
    apply: ({ ports }) => sendToRedis(ports.redis, 'INCR activity:{1}:stock'),
  },
  {
    name: 'a credit written twice',
    field: 'twice',
    apply: ({ mysqlUrl }) =>
      queryDatabase(mysqlUrl, 'UPDATE order_transition SET credit = credit * 2 WHERE credit > 0 LIMIT 1'),
  },
  {
    name: 'a close that came early',
    field: 'early',
    apply: ({ mysqlUrl }) =>
      queryDatabase(
        mysqlUrl,
        `UPDATE order_transition SET at = at - INTERVAL 1 HOUR WHERE to_status = 'TIMEOUT_CLOSED' LIMIT 1`,
      ),
  },
  {
    name: 'a message that was never sent',
    field: 'stuck',
    apply: ({ mysqlUrl }) => queryDatabase(mysqlUrl, 'UPDATE message_outbox SET sent_at = NULL LIMIT 1'),
  },
];
