import { addColumns } from './add-columns.ts';
import type { Migration } from './migration.ts';

/**
 * One life of a process: who it is, what it said last, and what an operator wants of it. heartbeat_ms: how often it
 * means to be heard, by which others see that it is dead.
 */
const worker = `
CREATE TABLE IF NOT EXISTS worker (
  id BINARY(16) NOT NULL,
  kind VARCHAR(16) CHARACTER SET ascii NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid INT UNSIGNED NOT NULL,
  version VARCHAR(64) CHARACTER SET ascii NOT NULL,
  started_at DATETIME(3) NOT NULL,
  heartbeat_at DATETIME(3) NOT NULL,
  heartbeat_ms INT UNSIGNED NOT NULL,
  wanted ENUM('RUN','PAUSE') CHARACTER SET ascii NOT NULL,
  state ENUM('RUNNING','PAUSING','PAUSED','STOPPED') CHARACTER SET ascii NOT NULL,
  figures VARCHAR(1000) CHARACTER SET ascii NOT NULL,
  PRIMARY KEY (id),
  KEY worker_heartbeat (heartbeat_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/** sale_paused_at: since then an operator has new orders of the activity refused; NULL: they are taken. */
export const createWorkers: Migration = {
  name: '0010-workers',
  up: async (knex) => {
    await knex.raw(worker);
    await addColumns(knex, 'activity', { sale_paused_at: 'DATETIME(3) NULL' });
  },
};
