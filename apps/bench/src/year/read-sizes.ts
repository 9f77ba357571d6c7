import type { Pool, RowDataPacket } from 'mysql2/promise';

const tables = [
  'orders',
  'order_transition',
  'notification',
  'message_outbox',
  'payment',
  'order_archive',
] as const;
const bytesPerMb = 1e6;

export interface TableSize {
  readonly name: string;
  readonly rows: number;
  readonly mb: number;
}

/** Each table rebuilt first, so that what is counted is what its rows and indexes need, without what was deleted. */
export async function readSizes(mysql: Pool): Promise<TableSize[]> {
  const sizes: TableSize[] = [];
  for (const name of tables) {
    await mysql.query(`OPTIMIZE TABLE ${name}`);
    const [[count]] = await mysql.query<RowDataPacket[]>(`SELECT COUNT(*) AS n FROM ${name}`);
    const [[size]] = await mysql.query<RowDataPacket[]>(
      `SELECT data_length + index_length AS bytes FROM information_schema.tables
       WHERE table_schema = DATABASE() AND table_name = ?`,
      [name],
    );
    sizes.push({ name, rows: Number(count?.n), mb: Number(size?.bytes) / bytesPerMb });
  }
  return sizes;
}
