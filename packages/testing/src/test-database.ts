import { randomBytes } from 'node:crypto';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { testVariable } from './test-environment.ts';
import { waitUntil } from './wait-until.ts';

export interface TestDatabase {
  readonly url: string;
  /**
   * Drop the database. Call it last, when everything that used it is closed.
   * @throws {Error} naming the connections that still use it after a short wait: the file leaks them. They
   * are ended and the database is dropped all the same, so that one leak does not spoil the next run.
   */
  readonly drop: () => Promise<void>;
}

/** How long closed connections may take to leave the server's list. */
const leakWaitMs = 2_000;

/** A new, empty MySQL database for one test file, on the server of LAPSE_TEST_MYSQL_URL. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = testVariable('LAPSE_TEST_MYSQL_URL');
  const name = `lapse_t_${randomBytes(8).toString('hex')}`;
  await withConnection(serverUrl, (server) => server.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => dropTestDatabase(serverUrl, name) };
}

async function dropTestDatabase(serverUrl: string, name: string): Promise<void> {
  await withConnection(serverUrl, async (server) => {
    const leaked = await findLeakedConnections(server, name);
    for (const { id } of leaked) await endConnection(server, id);
    await server.query(`DROP DATABASE IF EXISTS ${name}`);
    if (leaked.length === 0) return;
    const list = leaked.map(({ id, text }) => `#${id} ${text}`).join('\n  ');
    throw new Error(`${leaked.length} connection(s) to ${name} were left open:\n  ${list}`);
  });
}

interface ServerConnection {
  readonly id: number;
  readonly text: string;
}

async function findLeakedConnections(server: Connection, name: string): Promise<ServerConnection[]> {
  let found: ServerConnection[] = [];
  try {
    await waitUntil(
      async () => {
        found = await listConnections(server, name);
        return found.length === 0;
      },
      { what: `connections to ${name} to close`, timeoutMs: leakWaitMs },
    );
  } catch (error) {
    // Only an answered list is a leak; a server that does not answer is an error of its own.
    if (found.length === 0) throw error;
  }
  return found;
}

async function listConnections(server: Connection, name: string): Promise<ServerConnection[]> {
  const [rows] = await server.query<RowDataPacket[]>('SHOW FULL PROCESSLIST');
  return rows
    .filter((row) => row.db === name)
    .map((row) => ({
      id: Number(row.Id),
      text: `from ${row.Host}, ${row.Command} for ${row.Time} s, ${row.Info ?? 'no statement'}`,
    }));
}

async function endConnection(server: Connection, id: number): Promise<void> {
  try {
    await server.query('KILL ?', [id]);
  } catch (error) {
    // 1094: it closed by itself meanwhile.
    if ((error as { errno?: number }).errno !== 1094) throw error;
  }
}

async function withConnection<T>(url: string, use: (server: Connection) => Promise<T>): Promise<T> {
  const server = await createConnection({ uri: url, timezone: 'Z' });
  try {
    return await use(server);
  } finally {
    await server.end();
  }
}
