import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { createTestDatabase, testVariable } from '../src/index.ts';

async function databaseExists(url: string): Promise<boolean> {
  const server = await createConnection({ uri: testVariable('LAPSE_TEST_MYSQL_URL') });
  const [rows] = await server.query<RowDataPacket[]>('SHOW DATABASES LIKE ?', [
    new URL(url).pathname.slice(1),
  ]);
  await server.end();
  return rows.length === 1;
}

describe('a test database', () => {
  it('is empty, its own, and gone after drop', async () => {
    const one = await createTestDatabase();
    const two = await createTestDatabase();
    expect(one.url).not.toBe(two.url);
    const connection = await createConnection({ uri: one.url });
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    expect(tables).toEqual([]);
    await connection.end();
    await one.drop();
    await two.drop();
    expect(await databaseExists(one.url)).toBe(false);
  });

  it('names a leaked connection when dropped, and is dropped all the same', async () => {
    const database = await createTestDatabase();
    const leaked = await createConnection({ uri: database.url });
    leaked.on('error', () => undefined);
    await leaked.query('CREATE TABLE held (id INT) ENGINE=InnoDB');
    await leaked.beginTransaction();
    await leaked.query('SELECT * FROM held');
    await expect(database.drop()).rejects.toThrow(
      /1 connection\(s\) to lapse_t_\w+ were left open:\n {2}#\d+ from /,
    );
    expect(await databaseExists(database.url)).toBe(false);
    leaked.destroy();
  });
});
