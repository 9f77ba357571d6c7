import type { CreateAnswer } from '@lapse/producer/decisions';

/** What a buyer asked for, and what came back. */
export interface ObservedAnswer {
  readonly userId: string;
  readonly key: string;
  readonly activityId: number;
  readonly quantity: number;
  /** When it was sent, and when its answer was there. */
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly answer: CreateAnswer;
}

/** Refusals after which a client is told to send the same again. */
export const retriableCodes: readonly string[] = ['OVERLOADED', 'UNAVAILABLE', 'STOCK_NOT_READY'];
