import { addColumns, addIndex, dropIndex } from './add-columns.ts';
import type { Migration } from './migration.ts';

/**
 * conflict: empty, but for a capture that contradicts another of the same payment: then a hash of what it says. So each
 * of them has a row, and each has one. An older release beside this one leaves it empty, and meets the same unique
 * key as before.
 */
export const createPaymentConflicts: Migration = {
  name: '0007-payment-conflicts',
  up: async (knex) => {
    await addColumns(knex, 'payment', { conflict: "VARBINARY(16) NOT NULL DEFAULT ''" });
    const key = 'UNIQUE KEY payment_once_each (payment_id, type, conflict)';
    await addIndex(knex, 'payment', 'payment_once_each', key);
    // Last: at no time can a capture come twice.
    await dropIndex(knex, 'payment', 'payment_once');
  },
};
