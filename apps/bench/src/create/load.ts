import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { latencies } from '../latencies.ts';
import type { Program } from '../start-programs.ts';

/** What the load generator is to do. */
export interface LoadPlan {
  /** Taken in turn by the connections. */
  readonly origins: readonly string[];
  readonly path: string;
  readonly connections: number;
  /** Sent first, and not measured: every process compiles what is hot. */
  readonly warmUp: number;
  readonly requests: number;
  /** On average, at random moments, whatever the answers take; null: each connection sends again as soon as it is answered. */
  readonly perSecond: number | null;
  /** How often a request whose connection broke is sent again, under the same key; none unless said. */
  readonly retriesMax?: number;
  readonly jwtSecret: string;
}

export const warmText = 'bench: warm';
/** Before the line with the result. */
export const resultText = 'bench: result ';

/** What the load generator saw. */
export const loadResult = z.strictObject({
  seconds: z.number().positive(),
  /** Answers by status, the warm-up included. */
  statuses: z.record(z.string(), z.int()),
  /** Requests sent again, because their connection broke. */
  retried: z.int(),
  responseMs: latencies,
});
export type LoadResult = z.infer<typeof loadResult>;

const file = fileURLToPath(new URL('../../dist/load-process.js', import.meta.url));

/** A process of its own: it warms up, waits for SIGUSR2, and then sends the rest as fast as it is answered. */
export function loadProgram(plan: LoadPlan): Program {
  return { name: 'load', file, env: { LAPSE_BENCH_LOAD: JSON.stringify(plan) }, readyText: warmText };
}

const tokenSeconds = 86_400;

/** A buyer's token (HS256). Made beforehand: signing is no part of the load. */
export function mintBuyerToken(secret: string, sub: string): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub, aud: 'lapse', iat: now, exp: now + tokenSeconds };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
