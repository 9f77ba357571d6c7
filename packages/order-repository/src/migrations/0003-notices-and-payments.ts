import { migrationOf } from './migration.ts';

/** The unique key makes a second notice of the same stage impossible, whoever asks for it. */
const notification = `
CREATE TABLE IF NOT EXISTS notification (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  order_id BINARY(16) NOT NULL,
  stage ENUM('REMINDER','CLOSED') CHARACTER SET ascii NOT NULL,
  state ENUM('WAITING','SENT','SKIPPED','PARKED') CHARACTER SET ascii NOT NULL DEFAULT 'WAITING',
  attempts INT UNSIGNED NOT NULL DEFAULT 0,
  next_attempt_at DATETIME(3) NOT NULL,
  claimed_until DATETIME(3) NULL,
  created_at DATETIME(3) NOT NULL,
  sent_at DATETIME(3) NULL,
  last_error VARCHAR(1000) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY notification_once (order_id, stage),
  KEY notification_due (state, stage, next_attempt_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/** payment_once: the same capture under two event ids counts once. */
const payment = `
CREATE TABLE IF NOT EXISTS payment (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  event_id VARBINARY(255) NOT NULL,
  type VARCHAR(32) CHARACTER SET ascii NOT NULL,
  payment_id VARBINARY(512) NOT NULL,
  order_id BINARY(16) NOT NULL,
  amount_minor BIGINT UNSIGNED NOT NULL,
  currency CHAR(3) CHARACTER SET ascii NOT NULL,
  state ENUM('CAPTURED','REFUND_PENDING','REFUNDED','QUARANTINED','FAILED') CHARACTER SET ascii NOT NULL,
  occurred_at DATETIME(3) NOT NULL,
  received_at DATETIME(3) NOT NULL,
  reason VARCHAR(255) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY payment_event (event_id),
  UNIQUE KEY payment_once (payment_id, type),
  KEY payment_order (order_id),
  KEY payment_state (state, received_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * What was set aside for an operator. Broker message ids are not unique, so the body's hash tells two
 * messages with one id apart; for an order, `ref` is its id as text and the hash is of nothing.
 */
const parked = `
CREATE TABLE IF NOT EXISTS parked (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  kind ENUM('order','message') CHARACTER SET ascii NOT NULL,
  ref VARBINARY(255) NOT NULL,
  body_hash BINARY(32) NOT NULL,
  order_id BINARY(16) NULL,
  phase TINYINT UNSIGNED NULL,
  reason VARCHAR(1000) NOT NULL,
  body MEDIUMBLOB NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY parked_once (kind, ref, body_hash),
  KEY parked_order (order_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

export const createNoticeAndPaymentTables = migrationOf('0003-notices-and-payments', [
  notification,
  payment,
  parked,
]);
