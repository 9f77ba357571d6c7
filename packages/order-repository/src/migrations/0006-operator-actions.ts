import { addColumns } from './add-columns.ts';
import type { Migration } from './migration.ts';

/**
 * settle: closed by the settler, once nothing could come of the order's payment any more.
 * REFUND_FAILED: the provider had taken the refund, and could not carry it out. refund_failed_at: when that was last
 * heard; refund_finding_id: the finding that says so, healed once a person has ordered the refund anew.
 *
 * A value at the end of an ENUM and a column at the end of a table change no row that is there: MySQL and MariaDB do
 * both at once, however large the table is.
 */
export const createOperatorActions: Migration = {
  name: '0006-operator-actions',
  up: async (knex) => {
    await knex.raw(`ALTER TABLE order_transition MODIFY cause
      ENUM('create','message','sweep','buyer','payment','operator','settle') CHARACTER SET ascii NOT NULL`);
    await knex.raw(`ALTER TABLE payment MODIFY state
      ENUM('CAPTURED','REFUND_PENDING','REFUNDED','QUARANTINED','FAILED','WAITING','REFUND_FAILED')
      CHARACTER SET ascii NOT NULL`);
    await addColumns(knex, 'payment', {
      refund_failed_at: 'DATETIME(3) NULL',
      refund_finding_id: 'BINARY(16) NULL',
    });
  },
};
