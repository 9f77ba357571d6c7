import { creation } from './model-create.ts';
import { createLedger, type ModelOptions } from './model-ledger.ts';
import { delivery } from './model-notices.ts';
import { operation } from './model-operator.ts';
import { payment } from './model-payments.ts';
import { queues } from './model-queues.ts';
import { timeouts } from './model-timeouts.ts';

/**
 * MySQL, as the repository's port shows it: what each operation answers and leaves behind, without SQL. One call
 * is one committed transaction. test/model-database.test.ts holds it against the real one.
 */
export function createModelDatabase(options: ModelOptions) {
  const ledger = createLedger(options);
  return {
    tables: ledger.tables,
    ...creation(ledger),
    ...timeouts(ledger),
    ...payment(ledger),
    ...queues(ledger),
    ...delivery(ledger),
    ...operation(ledger),
  };
}

export type ModelDatabase = ReturnType<typeof createModelDatabase>;
