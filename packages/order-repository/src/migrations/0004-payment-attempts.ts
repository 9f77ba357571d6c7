import { addColumns, addIndex } from './add-columns.ts';
import type { Migration } from './migration.ts';

/**
 * One try of a buyer to pay at the provider. `id` is our idempotency key there, so that a create whose answer was
 * lost is asked again. CREATING: the provider may or may not know it. settle_at is the order's deadline: what is
 * open then is cancelled at the provider before the order closes.
 */
const paymentAttempt = `
CREATE TABLE IF NOT EXISTS payment_attempt (
  id BINARY(16) NOT NULL,
  order_id BINARY(16) NOT NULL,
  provider VARCHAR(32) CHARACTER SET ascii NOT NULL,
  provider_ref VARBINARY(255) NULL,
  amount_minor BIGINT UNSIGNED NOT NULL,
  currency CHAR(3) CHARACTER SET ascii NOT NULL,
  state ENUM('CREATING','OPEN','CAPTURED','CANCELLED','FAILED') CHARACTER SET ascii NOT NULL,
  pay_url VARCHAR(2000) NULL,
  client_secret VARCHAR(500) NULL,
  created_at DATETIME(3) NOT NULL,
  settle_at DATETIME(3) NOT NULL,
  ended_at DATETIME(3) NULL,
  tries INT UNSIGNED NOT NULL DEFAULT 0,
  claimed_until DATETIME(3) NULL,
  last_error VARCHAR(1000) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY payment_attempt_ref (provider, provider_ref),
  KEY payment_attempt_order (order_id),
  KEY payment_attempt_due (state, settle_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * settle_until: set while an attempt is open, to deadline plus grace; until then a close leaves the order alone.
 * The orders without an attempt have NULL there and pay nothing for it.
 * debit: places taken again by a payment that came after the close; credit less debit is what an order gave back.
 * WAITING: a payment whose order is not visible yet. Refund columns: the durable intent to pay back.
 */
export const createPaymentAttempts: Migration = {
  name: '0004-payment-attempts',
  up: async (knex) => {
    await knex.raw(paymentAttempt);
    await addColumns(knex, 'activity', { payment_grace_ms: 'BIGINT UNSIGNED NOT NULL DEFAULT 30000' });
    await addColumns(knex, 'orders', { settle_until: 'DATETIME(3) NULL' });
    await addColumns(knex, 'order_transition', { debit: 'INT UNSIGNED NOT NULL DEFAULT 0' });
    await knex.raw(`ALTER TABLE effect MODIFY kind
      ENUM('release','confirm','closed_notice','reacquire','capacity','shop_event') CHARACTER SET ascii NOT NULL`);
    await addColumns(knex, 'effect', { detail: 'VARCHAR(64) CHARACTER SET ascii NULL' });
    await knex.raw(`ALTER TABLE payment MODIFY state
      ENUM('CAPTURED','REFUND_PENDING','REFUNDED','QUARANTINED','FAILED','WAITING') CHARACTER SET ascii NOT NULL`);
    await addColumns(knex, 'payment', {
      provider: 'VARCHAR(32) CHARACTER SET ascii NULL',
      refund_id: 'BINARY(16) NULL',
      refund_ref: 'VARBINARY(255) NULL',
      refund_tries: 'INT UNSIGNED NOT NULL DEFAULT 0',
      next_try_at: 'DATETIME(3) NULL',
      claimed_until: 'DATETIME(3) NULL',
      refunded_at: 'DATETIME(3) NULL',
      last_error: 'VARCHAR(1000) NULL',
    });
    await addIndex(knex, 'payment', 'payment_due', 'KEY payment_due (state, next_try_at)');
  },
};
