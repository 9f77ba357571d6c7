import type { Database } from '../src/database.ts';
import type { Session } from '../src/session.ts';

/** The database, in which `change` happens each time right before a statement that has this part is sent. */
export function racing(database: Database, part: string, change: () => Promise<unknown>): Database {
  const meet = async (sql: string): Promise<void> => {
    if (sql.includes(part)) await change();
  };
  return {
    ...database,
    withSession: (use) =>
      database.withSession((session, destroy) => {
        const raced: Session = {
          ...session,
          rows: async (sql, values) => {
            await meet(sql);
            return session.rows(sql, values);
          },
          run: async (sql, values) => {
            await meet(sql);
            return session.run(sql, values);
          },
        };
        return use(raced, destroy);
      }),
  };
}
