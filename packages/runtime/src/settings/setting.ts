import type { z } from 'zod';

/** One setting: an environment variable, what it may be, and what to tell the person who sets it. */
export interface Setting {
  readonly env: `LAPSE_${string}`;
  /** Takes the text of the variable. */
  readonly schema: z.ZodType<unknown, string>;
  /** As one would write it in the environment; goes through the schema like any value. */
  readonly default?: string;
  /** May be missing; the field is then absent. A setting with neither `default` nor this is required. */
  readonly optional?: true;
  readonly example: string;
  readonly help: string;
  /** Its value is never printed, neither in an error nor in the log. */
  readonly secret?: true;
}

export type GroupSettings = Readonly<Record<string, Setting>>;

/** What is wrong with a setting: its variable, the fault in words, and a value that would do. */
export interface SettingFault {
  readonly env: string;
  readonly fault: string;
}

type OptionalKeys<S extends GroupSettings> = {
  [K in keyof S]: S[K] extends { readonly optional: true } ? K : never;
}[keyof S];

/** The values of a group: every field by its own type; an optional one that is not set is absent. */
export type GroupConfig<S extends GroupSettings> = {
  readonly [K in Exclude<keyof S, OptionalKeys<S>>]: z.output<S[K]['schema']>;
} & { readonly [K in OptionalKeys<S>]?: z.output<S[K]['schema']> };

/** Settings that one part of a process needs together, with the rules between them. */
export interface Group<S extends GroupSettings = GroupSettings> {
  readonly settings: S;
  /** Rules between fields; runs only when every field is valid by itself. */
  readonly check: (config: GroupConfig<S>) => readonly SettingFault[];
}

export function defineGroup<const S extends GroupSettings>(
  settings: S,
  check: (config: GroupConfig<S>) => readonly SettingFault[] = () => [],
): Group<S> {
  return { settings, check };
}
