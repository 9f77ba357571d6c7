import { LocalServiceError } from '@lapse/local-services';
import { ConfigError } from '@lapse/runtime';
import { UsageError } from './args.ts';

/** What a person reads when a command fails: a known fault says all by itself, a surprise has its stack. */
export function explain(error: unknown): string {
  if (error instanceof UsageError || error instanceof LocalServiceError || error instanceof ConfigError) {
    return error.message;
  }
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\nCaused by: ${explain(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
