import type { OrderView, ProblemView } from '@lapse/contracts';
import { useRef, useState } from 'preact/hooks';
import { callApi } from '../call-api.ts';
import { navigate } from '../router.tsx';

export interface Buying {
  readonly busy: boolean;
  /** What the last try came to, when it was no order; undefined: nothing yet. */
  readonly problem: ProblemView | null | undefined;
  readonly buy: () => Promise<void>;
}

/** Answers after which the same intent may still become an order: the key is kept, so that it becomes one at most. */
const isUnsettled = (problem: ProblemView | null): boolean =>
  problem === null || problem.status >= 500 || problem.status === 429;

/**
 * Buy one place. The key belongs to the intent, not to the click: a double click, or another try after no answer, gives
 * one order.
 */
export function useBuy(activityId: number): Buying {
  const key = useRef<string | null>(null);
  const inFlight = useRef(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemView | null | undefined>(undefined);
  const buy = async (): Promise<void> => {
    // Set at once, unlike state: the second click of a double click comes before the next drawing.
    if (inFlight.current) return;
    inFlight.current = true;
    setBusy(true);
    key.current ??= crypto.randomUUID();
    const answer = await callApi<OrderView>('POST', `/api/activities/${activityId}/orders`, {
      body: { quantity: 1 },
      key: key.current,
    });
    inFlight.current = false;
    setBusy(false);
    if (answer.ok) return navigate(`/orders/${answer.value.id}`);
    if (!isUnsettled(answer.problem)) key.current = null;
    const held = answer.problem?.code === 'ALREADY_HOLDING' ? answer.problem.orderId : undefined;
    if (held !== undefined) return navigate(`/orders/${held}`);
    setProblem(answer.problem);
  };
  return { busy, problem, buy };
}
