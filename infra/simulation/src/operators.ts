import type { Processes } from './processes.ts';
import { createRequester } from './request-producer.ts';
import type { World } from './world.ts';

const patienceMs = 4_000;
const triesMax = 5;
const extendMsMax = 15_000;

/** Operators who change capacities while the sale goes on, and move deadlines, for so long. */
export function sendOperators(world: World, processes: Processes, spreadMs: number): void {
  const { random, scheduler, database } = world;
  const request = createRequester(world, processes);
  const requestHash = Buffer.alloc(32);

  function changeCapacity(key: string, attempt: number, activityId: number, capacity: number): void {
    const asked = { actor: 'operator', reason: 'simulated', idempotency: { key, requestHash } };
    request(
      `capacity ${capacity} for ${activityId}`,
      patienceMs,
      (producer) => producer.changeCapacity(activityId, capacity, asked),
      (answer) => {
        if (!answer && attempt < triesMax)
          again(() => changeCapacity(key, attempt + 1, activityId, capacity));
      },
    );
  }

  function extend(key: string, attempt: number, orderId: string, byMs: number): void {
    const asked = { actor: 'operator', reason: 'simulated', idempotency: { key, requestHash } };
    request(
      `extend ${orderId} by ${byMs} ms`,
      patienceMs,
      (producer) => producer.extend(orderId, { byMs }, asked),
      (answer) => {
        if (!answer && attempt < triesMax) again(() => extend(key, attempt + 1, orderId, byMs));
      },
    );
  }

  function again(run: () => void): void {
    scheduler.after(random.int(200, 3_000), null, run);
  }

  if (random.chance(0.4)) return;
  for (let number = random.int(1, 4); number > 0; number -= 1) {
    scheduler.after(random.int(0, spreadMs), null, () => {
      const pending = [...database.tables.orders.values()].filter(({ status }) => status === 'PENDING');
      if (pending.length > 0 && random.chance(0.5)) {
        extend(`operator-${number}`, 1, random.pick(pending).id, random.int(1, extendMsMax));
      } else {
        const activityId = random.pick([...database.tables.activities.keys()]);
        changeCapacity(`operator-${number}`, 1, activityId, random.int(1, 5));
      }
    });
  }
}
