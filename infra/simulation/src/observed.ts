import type { CreateAnswer } from '@lapse/producer/decisions';

/** What a buyer asked for, and what came back. */
export interface ObservedAnswer {
  readonly userId: string;
  readonly key: string;
  readonly activityId: number;
  readonly quantity: number;
  readonly answer: CreateAnswer;
}
