import { migrationOf } from './migration.ts';

/**
 * What is left of an order once retention has taken its rows away: what it was, in columns, and its history as compressed JSON.
 * Credit and debit are sums, so that the books can still be judged. A table of its own: none that is there is touched.
 */
const orderArchive = `
CREATE TABLE IF NOT EXISTS order_archive (
  order_id BINARY(16) NOT NULL,
  activity_id BIGINT UNSIGNED NOT NULL,
  user_id VARBINARY(512) NOT NULL,
  status ENUM('TIMEOUT_CLOSED','CANCELLED','ABORTED') CHARACTER SET ascii NOT NULL,
  quantity INT UNSIGNED NOT NULL,
  credit INT UNSIGNED NOT NULL,
  debit INT UNSIGNED NOT NULL,
  finished_at DATETIME(3) NOT NULL,
  archived_at DATETIME(3) NOT NULL,
  history MEDIUMBLOB NOT NULL,
  PRIMARY KEY (order_id),
  KEY order_archive_at (archived_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

export const createOrderArchive = migrationOf('0011-order-archive', [orderArchive]);
