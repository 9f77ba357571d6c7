import type { z } from 'zod';
import type { CommandResult } from './command.ts';
import type { Context } from './context.ts';
import { table } from './table.ts';

/** A page of a list: by its public shape, and as rows for a person. */
export interface ListedPage {
  readonly shape: z.ZodType;
  /** With `next`, which the next page begins after. */
  readonly data: Readonly<Record<string, unknown>> & { readonly next: string | number | null };
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  /** What stands in place of an empty list. */
  readonly empty: string;
  /** The option that takes `next`. */
  readonly nextOption?: '--after' | '--before';
}

export function listResult({ words }: Context, page: ListedPage): CommandResult {
  const { shape, data, head, rows, empty, nextOption = '--after' } = page;
  const more = data.next === null ? '' : `\nmore: ${nextOption} ${data.next}`;
  const text = rows.length === 0 ? empty : `${table(head, rows)}${more}\nTimes: ${words.zone}`;
  return { shape, data, text };
}

/** @returns where the next page begins; null when this was the last. */
export function nextOf<Id>(page: readonly { readonly id: Id }[], limit: number): Id | null {
  return page.length < limit ? null : (page.at(-1)?.id ?? null);
}
