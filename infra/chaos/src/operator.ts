import { randomUUID } from 'node:crypto';
import type { OrderView } from '@lapse/contracts';
import { sleep } from '@lapse/runtime';
import type { Answer, ApiClient } from './api-client.ts';
import type { Extension, Ledger } from './ledger.ts';
import type { Random } from './random.ts';

export interface OperatorParts {
  readonly api: ApiClient;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly closing: AbortSignal;
}

const everyMs = { from: 600, to: 2_500 } as const;
/** The places of the hot sale, up and down while it sells; below what is held it is refused. */
const capacity = { from: 12, to: 40 } as const;
const againMs = 500;

/** An operator who gives buyers more time and changes a capacity, with the same key until an answer comes. */
export async function workAsOperator(parts: OperatorParts, hotActivityId: number): Promise<void> {
  const { api, random, closing } = parts;
  while (!closing.aborted) {
    await sleep(random.whole(everyMs.from, everyMs.to), closing);
    const key = randomUUID();
    if (random.chance(0.5)) {
      const wanted = random.whole(capacity.from, capacity.to);
      await untilAnswered(parts, () => api.changeCapacity(hotActivityId, wanted, key));
    } else await extend(parts, key);
  }
}

/** An order of the last few that were sold, which is most likely still pending. */
async function extend(parts: OperatorParts, key: string): Promise<void> {
  const { api, ledger, random } = parts;
  const recent = ledger.purchases.slice(-30).flatMap(({ orders }) => [...orders.values()]);
  if (recent.length === 0) return;
  const { id: orderId } = random.pick(recent);
  if (ledger.extensions.has(orderId)) return;
  const extension: Extension = { byMs: random.whole(1_000, 9_000), answeredExpiresAt: undefined };
  ledger.extensions.set(orderId, extension);
  const answer = await untilAnswered(parts, () => api.extendOrder(orderId, extension.byMs, key));
  if (answer?.kind === 'ok') {
    extension.answeredExpiresAt = Date.parse((answer.body as OrderView).expiresAt);
  }
}

async function untilAnswered(
  { closing }: OperatorParts,
  ask: () => Promise<Answer>,
): Promise<Answer | undefined> {
  while (!closing.aborted) {
    const answer = await ask();
    if (answer.kind !== 'none') return answer;
    await sleep(againMs, closing);
  }
  return undefined;
}
