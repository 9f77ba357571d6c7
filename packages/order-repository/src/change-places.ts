import { InvariantError } from './errors.ts';
import { orLocked } from './find-locked.ts';
import type { Session } from './session.ts';

export interface PlacesChange {
  readonly activityId: number;
  readonly places: number;
}

/** What an activity must be like, so that places may be taken from it. */
export interface PlacesTaken extends PlacesChange {
  readonly generation: number;
}

export interface FreePlaces {
  available: number;
  readonly generation: number;
  /** 1: nothing may be taken from it any more. */
  readonly isArchived: number;
}

/**
 * Give places back to activities, each named once: one statement, however many. Last in its transaction, and in the
 * order of their numbers, which the index makes: these are the rows everybody shares, so their locks are taken late
 * and in one order.
 * @throws ActivityLockedError naming one that others kept locked.
 * @throws InvariantError naming those that are not there.
 */
export async function givePlaces(session: Session, changes: readonly PlacesChange[]): Promise<void> {
  const ids = changes.map(({ activityId }) => activityId);
  const sql = `UPDATE activity FORCE INDEX (PRIMARY) SET available = available + ${caseOf(changes.length)} WHERE id IN (?)`;
  const values = changes.flatMap(({ activityId, places }) => [activityId, places]);
  const { affectedRows } = await orLocked(session, ids, session.run(sql, [...values, ids]));
  if (affectedRows === ids.length) return;
  const there = await lockPlaces(session, ids);
  const missing = ids.filter((id) => !there.has(id));
  throw new InvariantError(`activities ${missing} are not there to be credited`);
}

/**
 * Take places from activities, each named once, as `givePlaces` gives them back. An activity with too few places, of
 * another generation, or archived, is left as it is: the hard guard against overselling, whatever Redis believed.
 * @returns how many activities they were taken from; if not from all, the caller must roll back.
 * @throws ActivityLockedError naming one that others kept locked.
 */
export async function takePlaces(session: Session, changes: readonly PlacesTaken[]): Promise<number> {
  const ids = changes.map(({ activityId }) => activityId);
  const places = changes.flatMap((taken) => [taken.activityId, taken.places]);
  const generations = changes.flatMap((taken) => [taken.activityId, taken.generation]);
  const byId = caseOf(changes.length);
  const sql = `UPDATE activity FORCE INDEX (PRIMARY) SET available = available - ${byId}
     WHERE id IN (?) AND generation = ${byId} AND available >= ${byId} AND archived_at IS NULL`;
  const values = [...places, ids, ...generations, ...places];
  const { affectedRows } = await orLocked(session, ids, session.run(sql, values));
  return affectedRows;
}

/**
 * Lock activities, to judge order by order what there is room for. One that is not there is left out.
 * @throws ActivityLockedError naming one that others kept locked.
 */
export async function lockPlaces(session: Session, ids: readonly number[]): Promise<Map<number, FreePlaces>> {
  const sql = `SELECT id, available, generation, archived_at IS NOT NULL AS isArchived
    FROM activity FORCE INDEX (PRIMARY) WHERE id IN (?) ORDER BY id FOR UPDATE`;
  const rows = await orLocked(session, ids, session.rows<FreePlaces & { id: number }>(sql, [ids]));
  return new Map(rows.map(({ id, ...free }) => [id, free]));
}

function caseOf(count: number): string {
  return `CASE id${' WHEN ? THEN ?'.repeat(count)} END`;
}
