import { activityView, orderView } from '@lapse/contracts';
import type { Activity, Order, StoredAnswer } from '@lapse/order-repository';
import { toActivityView, toOrderView } from './order-view.ts';
import type { Problem } from './problem.ts';

/** What an operator's write came to. A refusal changed nothing and is not kept. */
export type OperatorAnswer =
  | { readonly kind: 'done' | 'replayed'; readonly answer: StoredAnswer }
  | { readonly kind: 'refused'; readonly problem: Problem };

/** The bytes that go out now, and again for a repeat: made once, by the public shape. */
export function activityAnswer(status: number, activity: Activity): StoredAnswer {
  return { status, body: Buffer.from(JSON.stringify(activityView.parse(toActivityView(activity)))) };
}

export function orderAnswer(status: number, order: Order): StoredAnswer {
  return { status, body: Buffer.from(JSON.stringify(orderView.parse(toOrderView(order)))) };
}
