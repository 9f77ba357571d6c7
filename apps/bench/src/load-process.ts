/**
 * The load generator: so many connections, each with one request in flight, the next as soon as it is answered; or a
 * fixed rate. The plan comes by LAPSE_BENCH_LOAD. It says when it is warm, waits for SIGUSR2, and writes its result as one line.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { type LoadPlan, type LoadResult, mintBuyerToken, resultText, warmText } from './create/load.ts';
import { createLatencies } from './latencies.ts';

const plan = JSON.parse(process.env.LAPSE_BENCH_LOAD ?? '') as LoadPlan;
const total = plan.warmUp + plan.requests;
const body = JSON.stringify({ quantity: 1 });
const headers = Array.from({ length: total }, (_, index) => ({
  authorization: `Bearer ${mintBuyerToken(plan.jwtSecret, `buyer-${index}`)}`,
  'content-type': 'application/json',
  'idempotency-key': `key-${index}`,
}));
const clients = Array.from(
  { length: plan.connections },
  (_, index) => new Client(plan.origins[index % plan.origins.length] ?? '', { pipelining: 1 }),
);
const statuses: Record<string, number> = {};
const latencies = createLatencies();
let next = 0;
let retried = 0;

async function send(client: Client, sinceMs: number, record: (ms: number) => void): Promise<void> {
  const request = { method: 'POST', path: plan.path, headers: headers[next] ?? {}, body } as const;
  next += 1;
  const answer = await sendAgain(() => client.request(request));
  await answer.body.dump();
  // A timer may come up to a millisecond before its time, and an answer within one.
  record(Math.max(0, performance.now() - sinceMs));
  statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1;
}

async function sendAgain<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (let left = plan.retriesMax ?? 0; ; left -= 1) {
    try {
      return await request();
    } catch (error) {
      if (left <= 0) throw error;
      retried += 1;
    }
  }
}

async function sendUntil(end: number, record: (ms: number) => void): Promise<void> {
  const lane = async (client: Client): Promise<void> => {
    while (next < end) await send(client, performance.now(), record);
  };
  await Promise.all(clients.map(lane));
}

/** Each at its own time, and measured from that time: a stall delays none of those behind it out of the figures. */
async function sendAtRate(perSecond: number): Promise<void> {
  const fromMs = performance.now();
  const sent: Promise<void>[] = [];
  for (const [index, offsetMs] of momentsAt(perSecond).entries()) {
    const atMs = fromMs + offsetMs;
    const aheadMs = atMs - performance.now();
    if (aheadMs > 0) await sleep(aheadMs);
    const client = clients[index % clients.length];
    if (client) sent.push(send(client, atMs, latencies.record));
  }
  await Promise.all(sent);
}

/** Buyers know nothing of each other: independent moments of the whole time, so that now and then several come at once. */
function momentsAt(perSecond: number): number[] {
  const totalMs = (plan.requests / perSecond) * 1_000;
  return Array.from({ length: plan.requests }, () => Math.random() * totalMs).sort((a, b) => a - b);
}

const stay = setInterval(() => undefined, 60_000);
const begin = once(process, 'SIGUSR2');
await sendUntil(plan.warmUp, () => undefined);
process.stdout.write(`${warmText}\n`);
await begin;
const startedAt = performance.now();
await (plan.perSecond === null ? sendUntil(total, latencies.record) : sendAtRate(plan.perSecond));
const seconds = (performance.now() - startedAt) / 1_000;
const result: LoadResult = { seconds, statuses, retried, responseMs: latencies.read() };
process.stdout.write(`${resultText}${JSON.stringify(result)}\n`);
// Idle, until it is killed: what it used can still be read.
stay.ref();
