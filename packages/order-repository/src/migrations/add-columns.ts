import type { Knex } from 'knex';

/**
 * Add the columns that a table lacks, each with its definition. MySQL knows no ADD COLUMN IF NOT EXISTS, and a
 * migration that died half way runs again from its start.
 */
export async function addColumns(
  knex: Knex,
  table: string,
  columns: Readonly<Record<string, string>>,
): Promise<void> {
  const missing: string[] = [];
  for (const [name, definition] of Object.entries(columns)) {
    if (!(await knex.schema.hasColumn(table, name))) missing.push(`ADD COLUMN ${name} ${definition}`);
  }
  if (missing.length > 0) await knex.raw(`ALTER TABLE ${table} ${missing.join(', ')}`);
}

/** Add an index that a table lacks; `definition` is what follows ADD, its name included. */
export async function addIndex(knex: Knex, table: string, name: string, definition: string): Promise<void> {
  if (!(await hasIndex(knex, table, name))) await knex.raw(`ALTER TABLE ${table} ADD ${definition}`);
}

/** Drop an index that a table may have. */
export async function dropIndex(knex: Knex, table: string, name: string): Promise<void> {
  if (await hasIndex(knex, table, name)) await knex.raw(`ALTER TABLE ${table} DROP INDEX ${name}`);
}

async function hasIndex(knex: Knex, table: string, name: string): Promise<boolean> {
  const [rows] = (await knex.raw(`SHOW INDEX FROM ${table} WHERE Key_name = ?`, [name])) as [unknown[]];
  return rows.length > 0;
}
