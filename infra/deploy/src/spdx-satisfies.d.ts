declare module 'spdx-satisfies' {
  /** Whether the licences allowed fulfil the expression. @throws {Error} when it is none. */
  function satisfies(expression: string, allowed: readonly string[]): boolean;
  export = satisfies;
}
