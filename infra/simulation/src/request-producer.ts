import { brief } from './brief.ts';
import type { Processes } from './processes.ts';
import type { Producer } from './start-process.ts';
import type { World } from './world.ts';

/**
 * Ask some producer; `done` hears its answer, or undefined when none came in time: nobody was there, it failed, it
 * died, or the answer was lost.
 */
type RequestProducer = <T>(
  what: string,
  patienceMs: number,
  ask: (producer: Producer) => Promise<T>,
  done: (answer: T | undefined) => void,
) => void;

/** Until a client that was refused the connection looks again. */
const refusedMs = { min: 100, max: 500 };

/** HTTP, as its clients see it. */
export function createRequester(
  { random, scheduler, faults, trace }: World,
  processes: Processes,
): RequestProducer {
  return (what, patienceMs, ask, done) => {
    type Answer = Parameters<typeof done>[0];
    const producer = processes.anyProducer();
    let settled = false;
    const settle = (answer: Answer): void => {
      if (settled) return;
      settled = true;
      done(answer);
    };
    const giveUpMs = producer ? patienceMs : random.int(refusedMs.min, refusedMs.max);
    scheduler.after(giveUpMs, null, () => settle(undefined));
    if (!producer) return;
    const reply = (answer: Answer): void => {
      if (faults.strikes('http-answer-lost')) return;
      scheduler.after(random.int(0, 5), null, () => {
        trace('  client', () => `${what}: ${answer === undefined ? 'failed' : brief(answer)}`);
        settle(answer);
      });
    };
    scheduler.after(random.int(0, 5), producer.owner, () => {
      ask(producer.entry).then(reply, () => reply(undefined));
    });
  };
}
