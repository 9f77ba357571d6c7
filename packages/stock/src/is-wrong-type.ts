import { ReplyError } from 'ioredis';
import { answerText } from './answer-text.ts';

/** A key holds another type than every script here writes: somebody else put it there, and only a load mends it. */
export function isWrongType(error: unknown): boolean {
  const cause: unknown = error instanceof Error && !(error instanceof ReplyError) ? error.cause : error;
  return cause instanceof Error && cause instanceof ReplyError && answerText(cause).startsWith('WRONGTYPE');
}
