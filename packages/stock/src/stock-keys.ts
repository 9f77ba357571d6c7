export interface StockKeys {
  readonly stock: string;
  readonly users: string;
  readonly holds: string;
  readonly generation: string;
  readonly capacity: string;
  readonly load: string;
  readonly seen: string;
}

export type StagedKeys = Pick<StockKeys, 'users' | 'holds' | 'seen'>;

/**
 * The keys of one activity. The braces are literal: they are the cluster's hash tag, so that all seven are on
 * one node and one script may touch them. Names are fixed, other systems read them.
 * @throws {RangeError} for anything but a positive whole number: nothing else may become part of a key.
 */
export function stockKeys(activityId: number): StockKeys {
  const prefix = keyPrefix(activityId);
  return {
    stock: `${prefix}:stock`,
    users: `${prefix}:users`,
    holds: `${prefix}:holds`,
    generation: `${prefix}:gen`,
    capacity: `${prefix}:capacity`,
    load: `${prefix}:load`,
    seen: `${prefix}:seen`,
  };
}

/** Where a load gathers before it is swapped in; in the same slot as the keys it will replace. */
export function stagedKeys(activityId: number, token: string): StagedKeys {
  const prefix = `${keyPrefix(activityId)}:load:${token}`;
  return { users: `${prefix}:users`, holds: `${prefix}:holds`, seen: `${prefix}:seen` };
}

function keyPrefix(activityId: number): string {
  if (!Number.isSafeInteger(activityId) || activityId <= 0) {
    throw new RangeError(`An activity is a positive whole number, not ${activityId}.`);
  }
  return `activity:{${activityId}}`;
}
