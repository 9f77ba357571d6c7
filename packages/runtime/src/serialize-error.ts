/** Bounds of one error in a log line. */
const messageMax = 2_000;
const stackMax = 4_000;
const causesMax = 5;

export interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: SerializedError;
  readonly errors?: readonly SerializedError[];
}

/**
 * An error as the log shows it: type, message, code, stack, causes. Nothing else of it: drivers hang
 * queries with their values on their errors. Cuts long texts and deep or circular causes.
 */
export function serializeError(error: unknown, depth = 0): SerializedError | unknown {
  return error instanceof Error ? describe(error, depth) : error;
}

function describe(error: Error, depth: number): SerializedError {
  const { code } = error as { code?: unknown };
  const deeper = depth < causesMax;
  const errors = deeper && error instanceof AggregateError ? error.errors.slice(0, causesMax) : [];
  return {
    type: error.name,
    message: error.message.slice(0, messageMax),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(error.stack !== undefined && { stack: error.stack.slice(0, stackMax) }),
    ...(deeper && error.cause instanceof Error && { cause: describe(error.cause, depth + 1) }),
    ...(errors.length > 0 && {
      errors: errors.filter((each) => each instanceof Error).map((each) => describe(each, depth + 1)),
    }),
  };
}
