import type { Knex } from 'knex';

/**
 * One step of the schema. Forward only. MySQL commits each DDL statement by itself, so a step that died half
 * way runs again from its start: every statement in it must be safe to repeat.
 */
export interface Migration {
  /** Never changes once released: the database remembers it. */
  readonly name: string;
  readonly up: (knex: Knex) => Promise<void>;
}

/** A migration of statements that may each run again, such as CREATE TABLE IF NOT EXISTS. */
export function migrationOf(name: string, statements: readonly string[]): Migration {
  return {
    name,
    up: async (knex) => {
      for (const statement of statements) await knex.raw(statement);
    },
  };
}
