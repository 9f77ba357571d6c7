import type { Migration } from './migration.ts';

/** DISMISSED: it was in quarantine, and an operator has found that there is no money to it. */
export const addDismissedPayments: Migration = {
  name: '0009-dismissed-payments',
  up: async (knex) => {
    await knex.raw(`ALTER TABLE payment MODIFY state
      ENUM('CAPTURED','REFUND_PENDING','REFUNDED','QUARANTINED','FAILED','WAITING','REFUND_FAILED','DISMISSED')
      CHARACTER SET ascii NOT NULL`);
  },
};
