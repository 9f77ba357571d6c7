import { type Database, openDatabase } from '../src/database.ts';
import type { Session } from '../src/session.ts';
import { collectLog } from './fixture.ts';

/** Takes one guard out of the repository's own SQL. */
export interface Removal {
  /** What the guard is, as the statement has it. */
  readonly guard: string;
  /** The statement without it. */
  readonly cut: (sql: string) => string;
}

/** A part of a statement is not there. `instead` keeps the number of its values. */
export function without(guard: string, instead = ''): Removal {
  return { guard, cut: (sql) => sql.replaceAll(guard, instead) };
}

/** A statement that begins so does nothing. */
export function skipping(guard: string): Removal {
  return { guard, cut: () => 'DO 0' };
}

/**
 * The real database, to which the repository's statements go with these guards taken out.
 * @returns also what to ask at the end: removals that met no statement, which prove nothing.
 */
export function openUnguarded(
  url: string,
  removals: readonly Removal[],
): Database & { unmet(): readonly string[] } {
  const database = openDatabase({ url, poolMax: 2, queryTimeoutMs: 10_000 }, collectLog([]));
  const met = new Set<string>();
  const edit = (sql: string): string => {
    const meeting = removals.filter(({ guard }) => sql.includes(guard));
    for (const { guard } of meeting) met.add(guard);
    return meeting.reduce((text, { cut }) => cut(text), sql);
  };
  return {
    ...database,
    withSession: (use) =>
      database.withSession((session, destroy) => {
        const edited: Session = {
          ...session,
          rows: (sql, values) => session.rows(edit(sql), values),
          run: (sql, values) => session.run(edit(sql), values),
        };
        return use(edited, destroy);
      }),
    unmet: () => removals.map(({ guard }) => guard).filter((guard) => !met.has(guard)),
  };
}
