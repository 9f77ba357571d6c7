import type { Database } from './database.ts';
import type { DatabaseServer } from './database-server.ts';
import { withRetriedSession } from './transaction.ts';

/** The names that MySQL 8 and MariaDB have for them. */
const variables = [
  'version',
  'transaction_isolation',
  'tx_isolation',
  'read_only',
  'innodb_flush_log_at_trx_commit',
  'max_connections',
];

/** Read what a person has to know of the server before it is trusted. */
export async function describeServer(database: Database): Promise<DatabaseServer> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<{ Variable_name: string; Value: string }>(
      'SHOW SESSION VARIABLES WHERE Variable_name IN (?)',
      [variables],
    ),
  );
  const values = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  return {
    version: values.get('version') ?? 'unknown',
    isolation: values.get('transaction_isolation') ?? values.get('tx_isolation') ?? 'unknown',
    readOnly: values.get('read_only') === 'ON',
    flushAtCommit: Number(values.get('innodb_flush_log_at_trx_commit') ?? 0),
    connectionsMax: Number(values.get('max_connections') ?? 0),
  };
}
