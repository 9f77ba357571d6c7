import { z } from 'zod';
import { lowerCaseUuid, operatorReason } from './ids.ts';

/** The processes that an operator sees, pauses and resumes. */
export const workerKinds = ['producer', 'reminder', 'closer', 'settler', 'sweeper'] as const;
export type WorkerKind = (typeof workerKinds)[number];

/** What an operator wants of a process. It hears of it with its next heartbeat. */
export const workerWishes = ['RUN', 'PAUSE'] as const;
export type WorkerWish = (typeof workerWishes)[number];

/**
 * What a process does. PAUSING: it takes nothing new, and finishes what it has in hand; so it does too while it stops.
 * PAUSED: nothing is in hand, so it may be killed. STOPPED: it said good-bye.
 */
export const workerStates = ['RUNNING', 'PAUSING', 'PAUSED', 'STOPPED'] as const;
export type WorkerState = (typeof workerStates)[number];

const count = z.int().min(0);

/** What a process says of itself with each heartbeat; each kind has some of them. */
export const workerFigures = z.object({
  inHand: count.optional().describe('Orders, requests or tasks at work or held in memory.'),
  waiting: count.optional().describe('What waits in its queue.'),
  latenessP99Ms: count
    .optional()
    .describe('Of its last orders, at most 1,000: 99% were closed, or reminded, no later than this.'),
  loopBusyPercent: count
    .max(100)
    .optional()
    .describe('How busy its event loop was since the heartbeat before: at 100 it can do no more.'),
});
export type WorkerFigures = z.infer<typeof workerFigures>;

/** What a process says of itself. */
export interface WorkerReport {
  /** One life of the process: a UUID made at its start. */
  readonly id: string;
  readonly kind: WorkerKind;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** How long it runs already. */
  readonly uptimeMs: number;
  /** How often it means to report. */
  readonly heartbeatMs: number;
  readonly state: WorkerState;
  /** What it was told last: stands where its row was deleted, as that of one that was not heard of for an hour. */
  readonly wanted: WorkerWish;
  readonly figures: WorkerFigures;
}

/** A process as an operator sees it. */
export const workerView = z.object({
  id: lowerCaseUuid.describe('One life of a process: new with each start.'),
  kind: z.enum(workerKinds),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  state: z.enum(workerStates).describe('As of its last heartbeat.'),
  wanted: z.enum(workerWishes),
  alive: z.boolean().describe('Heard of within three heartbeats, and not STOPPED.'),
  startedAt: z.iso.datetime(),
  heartbeatAt: z.iso.datetime(),
  figures: workerFigures,
});
export type WorkerView = z.infer<typeof workerView>;

/** Most processes of one answer: those heard of last. */
export const workersShownMax = 500;

/** Answer of `GET /v1/workers`. A process that is dead for an hour is forgotten. */
export const workerList = z.object({ workers: z.array(workerView) });

/** Body of `POST /v1/workers/:id/pause`, `…/resume`, `/v1/activities/:id/pause` and `…/resume`. */
export const pauseBody = z.strictObject({
  dryRun: z.boolean().default(true).describe('Say what would happen, and change nothing.'),
  reason: operatorReason,
});

/** What became of such a request, or would. */
export const pauseOutcome = {
  dryRun: z.boolean(),
  changes: z
    .boolean()
    .describe('False: it is so already, and nothing was noted. Of a dry run: what would be.'),
} as const;

/** Answer of `POST /v1/workers/:id/pause` and `…/resume`. `wanted` is what the process hears next. */
export const workerPauseView = z.object({ ...pauseOutcome, worker: workerView });
