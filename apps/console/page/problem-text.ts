import type { ProblemView } from '@lapse/contracts';
import type { Texts } from './texts/en.ts';

/** What a refusal means to the person, in their language where it is one that can happen to an honest buyer. */
export function problemText(t: Texts, problem: ProblemView | null): string {
  if (problem === null) return t.trouble.noAnswer;
  switch (problem.code) {
    case 'SOLD_OUT':
      return t.trouble.soldOut;
    case 'NOT_ON_SALE':
    case 'ACTIVITY_ARCHIVED':
      return t.trouble.notOnSale;
    case 'SALE_PAUSED':
      return t.trouble.paused;
    case 'OVERLOADED':
    case 'UNAVAILABLE':
    case 'STOCK_NOT_READY':
    case 'TOO_MANY_REQUESTS':
      return t.trouble.busy;
    case 'ORDER_NOT_PENDING':
      return t.trouble.notPending;
    case 'PAYMENT_IN_PROGRESS':
      return t.trouble.paying;
    case 'PAYMENT_UNAVAILABLE':
      return t.trouble.noPayment;
    case 'ORDER_NOT_FOUND':
      return t.trouble.orderNotFound;
    default:
      return t.trouble.other(problem.detail);
  }
}
