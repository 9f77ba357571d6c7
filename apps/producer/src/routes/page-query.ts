import { operationsPageMax } from '@lapse/contracts';
import { z } from 'zod';

/** Pages of the operators' lists: rows after this one, so many at most. */
const number = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,14})$/, 'must be a whole number')
  .transform(Number);

export const afterNumber = number.default(0);
export const pageLimit = number.pipe(z.int().min(1).max(operationsPageMax)).default(operationsPageMax);

/** A row's id where rows have UUIDs. */
export const rowUuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be the id of a row');

/** @returns what to give as `after` for the next page; null when this was the last. */
export function nextOf<Id>(page: readonly { readonly id: Id }[], limit: number): Id | null {
  return page.length < limit ? null : (page.at(-1)?.id ?? null);
}
