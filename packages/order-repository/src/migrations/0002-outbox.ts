import { migrationOf } from './migration.ts';

/** Rows stay once sent, for the timeline. Unsent rows are found by (sent_at, created_at). */
const messageOutbox = `
CREATE TABLE IF NOT EXISTS message_outbox (
  id BINARY(16) NOT NULL,
  phase TINYINT UNSIGNED NOT NULL,
  body MEDIUMTEXT NOT NULL,
  order_count INT UNSIGNED NOT NULL,
  due_at DATETIME(3) NOT NULL,
  created_at DATETIME(3) NOT NULL,
  sent_at DATETIME(3) NULL,
  deliver_at DATETIME(3) NULL,
  message_id VARCHAR(255) NULL,
  attempts INT UNSIGNED NOT NULL DEFAULT 0,
  claimed_until DATETIME(3) NULL,
  last_error VARCHAR(1000) NULL,
  PRIMARY KEY (id),
  KEY message_outbox_unsent (sent_at, created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * What must still follow a commit outside MySQL: one row for each batch, kind and activity, deleted once done
 * (infra/decisions/0002-effects-one-row-a-batch.md). Rows of one transaction share batch_id.
 */
const effect = `
CREATE TABLE IF NOT EXISTS effect (
  id BINARY(16) NOT NULL,
  batch_id BINARY(16) NOT NULL,
  kind ENUM('release','confirm','closed_notice') CHARACTER SET ascii NOT NULL,
  activity_id BIGINT UNSIGNED NULL,
  order_ids MEDIUMBLOB NOT NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  attempts INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (id),
  KEY effect_batch (batch_id),
  KEY effect_pending (kind, attempts, created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

export const createOutboxTables = migrationOf('0002-outbox', [messageOutbox, effect]);
