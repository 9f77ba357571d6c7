import type { Answer, ExplainedOrder, ExplanationWords } from './explanation.ts';

/** What the shop's own systems were told. Nothing where none are. */
export function explainShopEvents({ timeline }: ExplainedOrder, { time }: ExplanationWords): Answer {
  const { shopEvents, pendingEffects } = timeline;
  const sent = shopEvents.filter(({ state }) => state === 'SENT');
  const last = sent.at(-1);
  const waiting = shopEvents.filter(({ state }) => state === 'WAITING' || state === 'HELD');
  const parked = shopEvents.filter(({ state }) => state === 'PARKED');
  const unwritten = pendingEffects.filter(({ kind }) => kind === 'shop_event');
  const says: string[] = [];
  if (last)
    says.push(
      `The shop's system took ${sent.length} events, the last order.${last.type} at ${last.sentAt ? time(last.sentAt) : 'an unknown time'}.`,
    );
  if (waiting.length > 0)
    says.push(`${waiting.length} events wait to be delivered to the shop's system: ${list(waiting)}.`);
  if (unwritten.length > 0) says.push(`${unwritten.length} events for the shop are still to be written.`);
  for (const { type, attempts, lastError } of parked) {
    const why = lastError === null ? '' : ` The last answer: ${lastError}`;
    says.push(`The shop's system did NOT take order.${type}: given up after ${attempts} tries.${why}`);
  }
  return {
    says,
    todo: parked.map(
      ({ id }) =>
        `Once the shop's system works: lapse undelivered resend ${id} --kind shop_event --reason TEXT --apply`,
    ),
  };
}

function list(events: readonly { readonly type: string }[]): string {
  return events.map(({ type }) => `order.${type}`).join(', ');
}
