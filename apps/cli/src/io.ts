/** The world of one run: the test's own, or the process's. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly out: TextOutput;
  readonly err: TextOutput;
  /** Aborts when the person has had enough. */
  readonly signal: AbortSignal;
}

export interface TextOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}
