import { z } from 'zod';
import { latencies } from './latencies.ts';

const perName = z.record(z.string(), z.number());

/** What a system without work uses. */
const idle = z.strictObject({
  /** By process and service: CPU time, in percent of one core. */
  corePercent: perName,
  /** As `sql` and `redis` count them, in a minute. */
  sqlPerMinute: perName,
  redisPerMinute: perName,
});

/** What came of replacing processes under load. */
const rolling = z.strictObject({
  replaced: z.int(),
  /** Requests sent again by their client, because their connection broke. */
  retried: z.int(),
  /** From SIGTERM to the end of a process. */
  stopMs: latencies,
});

/** What one run measured. Times in the unit of their name. */
const figures = z.strictObject({
  orders: z.int().positive(),
  seconds: z.number().positive(),
  perSecond: z.number().positive(),
  /** By process and service: microseconds of CPU per order while it was measured. What is missing was not measured. */
  cpuUsPerOrder: perName,
  /** The same for what went before: handing the orders to a queue. */
  armCpuUsPerOrder: perName,
  rssPeakBytes: perName,
  /** Resident memory by process and service: `[seconds since the measured part began, bytes]`, at most 60 points. */
  rssOverTime: z.record(z.string(), z.array(z.tuple([z.number(), z.number()]))),
  /** Statements, fsyncs and bytes of MySQL. */
  sql: perName,
  /** Calls by command. */
  redis: perName,
  /** From deadline to close by the database clock, in milliseconds. */
  latenessMs: latencies.nullable(),
  early: z.int().min(0),
  /** Of requests, in milliseconds. */
  responseMs: latencies.nullable(),
  /** Where nothing was sold: then there is but one "order", which nobody placed. */
  idle: idle.optional(),
  /** Where processes were started: from spawn to ready, in milliseconds. An "order" is one start. */
  readyMs: latencies.optional(),
  /** Where processes were replaced. */
  rolling: rolling.optional(),
});
export type Figures = z.infer<typeof figures>;

/** A run without figures says why: it was not exact, or it could not be done here. */
const outcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('measured'), figures }),
  z.strictObject({ kind: z.literal('no-figure'), reasons: z.array(z.string()).min(1) }),
  z.strictObject({ kind: z.literal('skipped'), reason: z.string() }),
]);
export type Outcome = z.infer<typeof outcome>;

const summary = z.strictObject({
  median: z.number(),
  min: z.number(),
  max: z.number(),
  spread: z.number(),
});

const contenderResult = z.strictObject({
  name: z.string(),
  about: z.string(),
  /** One for each round, in their order. */
  outcomes: z.array(outcome),
  perSecond: summary.nullable(),
  /** All processes and services together. */
  cpuUsPerOrder: summary.nullable(),
});

const scenarioResult = z.strictObject({
  name: z.string(),
  about: z.string(),
  rounds: z.int().positive(),
  contenders: z.array(contenderResult),
});
export type ScenarioResult = z.infer<typeof scenarioResult>;

const load = z.tuple([z.number(), z.number(), z.number()]);

const machine = z.strictObject({
  cpu: z.string(),
  cores: z.int().positive(),
  memoryBytes: z.int().positive(),
  system: z.string(),
  node: z.string(),
  versions: z.record(z.string(), z.string()),
  /** What decides how durable each store is. */
  settings: z.record(z.string(), z.string()),
});
export type Machine = z.infer<typeof machine>;

/** The file of `--json`. Other programs read it: a change that breaks them gets another version. */
export const benchResult = z.strictObject({
  version: z.literal(2),
  startedAt: z.iso.datetime(),
  seconds: z.number(),
  quick: z.boolean(),
  machine,
  /** Load averages over 1, 5 and 15 minutes, before and after: others on the machine spoil rates. */
  load: z.strictObject({ before: load, after: load }),
  scenarios: z.array(scenarioResult),
  closingLine: z.string(),
});
export type BenchResult = z.infer<typeof benchResult>;
