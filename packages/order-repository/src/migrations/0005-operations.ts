import { addColumns, addIndex } from './add-columns.ts';
import type { Migration } from './migration.ts';

/** Who changed what by hand, and why. */
const operatorAction = `
CREATE TABLE IF NOT EXISTS operator_action (
  id BINARY(16) NOT NULL,
  at DATETIME(3) NOT NULL,
  actor VARBINARY(512) NOT NULL,
  action VARCHAR(64) CHARACTER SET ascii NOT NULL,
  target_kind VARCHAR(32) CHARACTER SET ascii NOT NULL,
  target VARBINARY(255) NOT NULL,
  reason VARCHAR(500) NOT NULL,
  detail MEDIUMTEXT NULL,
  PRIMARY KEY (id),
  KEY operator_action_target (target_kind, target),
  KEY operator_action_at (at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/** What the auditor found different between MySQL and Redis, and what it did. */
const auditFinding = `
CREATE TABLE IF NOT EXISTS audit_finding (
  id BINARY(16) NOT NULL,
  at DATETIME(3) NOT NULL,
  activity_id BIGINT UNSIGNED NULL,
  kind VARCHAR(32) CHARACTER SET ascii NOT NULL,
  action VARCHAR(32) CHARACTER SET ascii NOT NULL,
  detail MEDIUMTEXT NOT NULL,
  healed_at DATETIME(3) NULL,
  PRIMARY KEY (id),
  KEY audit_finding_at (at),
  KEY audit_finding_activity (activity_id, at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/** Answers of operators' writes, kept for a day: the same key and request gets the same bytes. */
const idempotencyKey = `
CREATE TABLE IF NOT EXISTS idempotency_key (
  owner VARBINARY(512) NOT NULL,
  idem_key VARBINARY(128) NOT NULL,
  request_hash BINARY(32) NOT NULL,
  status SMALLINT UNSIGNED NULL,
  answer MEDIUMBLOB NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (owner, idem_key),
  KEY idempotency_key_at (created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/** How far a job that walks a table by its key has come. */
const jobPlace = `
CREATE TABLE IF NOT EXISTS job_place (
  job VARCHAR(32) CHARACTER SET ascii NOT NULL,
  place BINARY(16) NOT NULL,
  PRIMARY KEY (job)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * Events for the shop's own systems, in the order of `seq` for each order. event_id is made of order, type and
 * occasion, so that an event is there once. HELD: an earlier one of its order is not delivered yet.
 */
const shopEvent = `
CREATE TABLE IF NOT EXISTS shop_event (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  event_id BINARY(16) NOT NULL,
  order_id BINARY(16) NOT NULL,
  seq INT UNSIGNED NOT NULL,
  type VARCHAR(32) CHARACTER SET ascii NOT NULL,
  body MEDIUMTEXT NOT NULL,
  state ENUM('HELD','WAITING','SENT','PARKED') CHARACTER SET ascii NOT NULL DEFAULT 'HELD',
  attempts INT UNSIGNED NOT NULL DEFAULT 0,
  attempts_before INT UNSIGNED NOT NULL DEFAULT 0,
  next_attempt_at DATETIME(3) NOT NULL,
  claimed_until DATETIME(3) NULL,
  created_at DATETIME(3) NOT NULL,
  sent_at DATETIME(3) NULL,
  last_error VARCHAR(1000) NULL,
  PRIMARY KEY (id),
  UNIQUE KEY shop_event_once (event_id),
  KEY shop_event_order (order_id, seq),
  KEY shop_event_due (state, next_attempt_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4`;

/**
 * capacity_version: rises with each change of capacity, so that Redis takes each change once.
 * stock_run_id: the Redis server that the stock was loaded into; another one has to be loaded again.
 * first_remind_at, first_expires_at: what the buyer was answered, once an operator has moved the deadline.
 * attempts_before: deliveries tried when an operator sent it again; the limit of tries counts from there.
 * swept_at: the reminders of this outbox row are known to be done, by message or by the sweep. Until then due_at
 * is when the sweep looks at it next.
 */
export const createOperations: Migration = {
  name: '0005-operations',
  up: async (knex) => {
    for (const table of [operatorAction, auditFinding, idempotencyKey, jobPlace, shopEvent])
      await knex.raw(table);
    await addColumns(knex, 'activity', {
      capacity_version: 'INT UNSIGNED NOT NULL DEFAULT 1',
      stock_run_id: 'VARCHAR(64) CHARACTER SET ascii NULL',
    });
    await addColumns(knex, 'orders', {
      first_remind_at: 'DATETIME(3) NULL',
      first_expires_at: 'DATETIME(3) NULL',
    });
    await addColumns(knex, 'notification', { attempts_before: 'INT UNSIGNED NOT NULL DEFAULT 0' });
    await addColumns(knex, 'message_outbox', { swept_at: 'DATETIME(3) NULL' });
    await addIndex(
      knex,
      'message_outbox',
      'message_outbox_due',
      'KEY message_outbox_due (phase, swept_at, due_at)',
    );
    await knex.raw(`ALTER TABLE parked MODIFY kind
      ENUM('order','message','dead_letter') CHARACTER SET ascii NOT NULL`);
    await addColumns(knex, 'parked', {
      state: "ENUM('PARKED','REDRIVEN','DROPPED') CHARACTER SET ascii NOT NULL DEFAULT 'PARKED'",
      settled_at: 'DATETIME(3) NULL',
    });
    await addIndex(knex, 'parked', 'parked_state', 'KEY parked_state (state, order_id)');
  },
};
