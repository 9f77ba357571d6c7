import { addColumns } from './add-columns.ts';
import type { Migration } from './migration.ts';

/**
 * archived_at: since then nothing is sold in the activity, and Redis knows nothing of it, or is about to forget it:
 * stock_run_id says which. sold_archived_orders, sold_archived_units: paid orders that went to the archive, and the
 * places that are theirs for good; so `available` is capacity less these and the active orders.
 */
export const addArchivedActivities: Migration = {
  name: '0012-archived-activities',
  up: async (knex) => {
    await knex.raw(`ALTER TABLE order_archive MODIFY status
      ENUM('TIMEOUT_CLOSED','CANCELLED','ABORTED','PAID') CHARACTER SET ascii NOT NULL`);
    await addColumns(knex, 'activity', {
      archived_at: 'DATETIME(3) NULL',
      sold_archived_orders: 'INT UNSIGNED NOT NULL DEFAULT 0',
      sold_archived_units: 'INT UNSIGNED NOT NULL DEFAULT 0',
    });
  },
};
