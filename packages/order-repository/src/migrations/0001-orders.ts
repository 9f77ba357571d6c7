import { migrationOf } from './migration.ts';

// No foreign keys: a shared lock on the activity row by each insert would meet the decrement of the same
// row in a deadlock, on the one row that a sale fights for.

const activity = `
CREATE TABLE IF NOT EXISTS activity (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(200) NOT NULL,
  capacity INT UNSIGNED NOT NULL,
  available INT UNSIGNED NOT NULL,
  price_minor BIGINT UNSIGNED NOT NULL,
  currency CHAR(3) CHARACTER SET ascii NOT NULL,
  sale_starts_at DATETIME(3) NULL,
  sale_ends_at DATETIME(3) NULL,
  pay_within_ms BIGINT UNSIGNED NOT NULL,
  remind_after_ms BIGINT UNSIGNED NOT NULL,
  quantity_max INT UNSIGNED NOT NULL,
  late_payment_policy VARCHAR(16) CHARACTER SET ascii NOT NULL,
  generation INT UNSIGNED NOT NULL DEFAULT 1,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT activity_available_max CHECK (available <= capacity)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * active_user: one active order per buyer and activity, by a unique key in which NULLs never collide.
 * orders_overdue ends with the primary key as every InnoDB index does.
 */
const orders = `
CREATE TABLE IF NOT EXISTS orders (
  id BINARY(16) NOT NULL,
  activity_id BIGINT UNSIGNED NOT NULL,
  user_id VARBINARY(512) NOT NULL,
  quantity INT UNSIGNED NOT NULL,
  amount_minor BIGINT UNSIGNED NOT NULL,
  currency CHAR(3) CHARACTER SET ascii NOT NULL,
  locale VARCHAR(16) CHARACTER SET ascii NOT NULL,
  status ENUM('PENDING','PAID','TIMEOUT_CLOSED','CANCELLED','ABORTED') CHARACTER SET ascii NOT NULL,
  version INT UNSIGNED NOT NULL,
  created_at DATETIME(3) NOT NULL,
  remind_at DATETIME(3) NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  reminded_at DATETIME(3) NULL,
  paid_at DATETIME(3) NULL,
  closed_at DATETIME(3) NULL,
  idempotency_key VARBINARY(128) NULL,
  request_hash BINARY(32) NOT NULL,
  reminder_outbox_id BINARY(16) NULL,
  close_outbox_id BINARY(16) NULL,
  active_user VARBINARY(512) GENERATED ALWAYS AS
    (CASE status WHEN 'PENDING' THEN user_id WHEN 'PAID' THEN user_id END) STORED,
  PRIMARY KEY (id),
  UNIQUE KEY orders_active_user (activity_id, active_user),
  UNIQUE KEY orders_idempotency_key (user_id, idempotency_key),
  KEY orders_overdue (status, expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * One row per status change, the first of an order included: the audit trail, and the ledger that makes a
 * second stock credit impossible, since (order_id, version) is there once. effect_batch_id leads to the effects
 * of its transaction while they are pending.
 */
const orderTransition = `
CREATE TABLE IF NOT EXISTS order_transition (
  order_id BINARY(16) NOT NULL,
  version INT UNSIGNED NOT NULL,
  activity_id BIGINT UNSIGNED NOT NULL,
  from_status ENUM('PENDING','PAID','TIMEOUT_CLOSED','CANCELLED','ABORTED') CHARACTER SET ascii NULL,
  to_status ENUM('PENDING','PAID','TIMEOUT_CLOSED','CANCELLED','ABORTED') CHARACTER SET ascii NOT NULL,
  cause ENUM('create','message','sweep','buyer','payment','operator') CHARACTER SET ascii NOT NULL,
  at DATETIME(3) NOT NULL,
  credit INT UNSIGNED NOT NULL,
  effect_batch_id BINARY(16) NULL,
  actor VARBINARY(512) NULL,
  PRIMARY KEY (order_id, version)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

export const createOrderTables = migrationOf('0001-orders', [activity, orders, orderTransition]);
