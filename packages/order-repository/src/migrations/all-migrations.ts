import { createOrderTables } from './0001-orders.ts';
import { createOutboxTables } from './0002-outbox.ts';
import { createNoticeAndPaymentTables } from './0003-notices-and-payments.ts';
import { createPaymentAttempts } from './0004-payment-attempts.ts';
import { createOperations } from './0005-operations.ts';
import { createOperatorActions } from './0006-operator-actions.ts';
import { createPaymentConflicts } from './0007-payment-conflicts.ts';
import { indexEffectsByActivity } from './0008-effects-by-activity.ts';
import { addDismissedPayments } from './0009-dismissed-payments.ts';
import { createWorkers } from './0010-workers.ts';
import { createOrderArchive } from './0011-order-archive.ts';
import { addArchivedActivities } from './0012-archived-activities.ts';
import type { Migration } from './migration.ts';

/** In the order in which they run. Imported, not read from a folder: the same from source and from dist. */
export const allMigrations: readonly Migration[] = [
  createOrderTables,
  createOutboxTables,
  createNoticeAndPaymentTables,
  createPaymentAttempts,
  createOperations,
  createOperatorActions,
  createPaymentConflicts,
  indexEffectsByActivity,
  addDismissedPayments,
  createWorkers,
  createOrderArchive,
  addArchivedActivities,
];
