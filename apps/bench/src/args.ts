import { parseArgs } from 'node:util';
import { BenchError } from './bench-error.ts';

export interface BenchArgs {
  /** Smaller sizes, one round, and what the closing line needs: under three minutes. */
  readonly quick: boolean;
  /** The scenarios wanted; null: all. */
  readonly only: readonly Selection[] | null;
  /** Where the figures go as JSON; null: nowhere. */
  readonly json: string | null;
  /** Where they go as a page with pictures; null: nowhere. */
  readonly html: string | null;
  /** How often each contender runs, instead of each scenario's own number. */
  readonly rounds: number | null;
  /** Orders of a run, instead of each scenario's own number. */
  readonly orders: number | null;
}

export interface Selection {
  readonly scenario: string;
  /** Empty: all of them. */
  readonly contenders: readonly string[];
}

/** What there is to choose from: contenders by scenario. */
export type Catalogue = Readonly<Record<string, readonly string[]>>;

/** `--quick` is there for the closing line, and runs what that names. */
const quickSelection: readonly Selection[] = [
  { scenario: 'close-burst', contenders: ['limit', 'lapse', 'seed', 'bullmq'] },
  { scenario: 'create', contenders: ['limit', 'lapse', 'seed'] },
  { scenario: 'steady', contenders: ['lapse'] },
];

const rounds = { min: 1, max: 100 } as const;
const orders = { min: 100, max: 1_000_000 } as const;

/** @throws {BenchError} LAPSE_BENCH_ARGUMENT, saying what would work. */
export function parseBenchArgs(args: readonly string[], catalogue: Catalogue): BenchArgs {
  const values = parse(args);
  const quick = values.quick === true;
  return {
    quick,
    only: values.only?.map((text) => parseSelection(text, catalogue)) ?? (quick ? quickSelection : null),
    json: values.json ?? null,
    html: values.html ?? null,
    rounds: wholeNumber('--rounds', values.rounds, rounds.min, rounds.max) ?? null,
    orders: wholeNumber('--orders', values.orders, orders.min, orders.max) ?? null,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        json: { type: 'string' },
        html: { type: 'string' },
        rounds: { type: 'string' },
        orders: { type: 'string' },
      },
    }).values;
  } catch (cause) {
    throw refuse(`${(cause as Error).message} --help lists the options.`, cause);
  }
}

/** `close-burst`, or `close-burst:limit,lapse`. */
function parseSelection(text: string, catalogue: Catalogue): Selection {
  const [scenario = '', names = ''] = text.split(':', 2);
  const known = catalogue[scenario];
  if (known === undefined) {
    throw refuse(
      `--only=${text}: no scenario "${scenario}"; there are ${Object.keys(catalogue).join(', ')}.`,
    );
  }
  const contenders = names === '' ? [] : names.split(',');
  const unknown = contenders.find((name) => !known.includes(name));
  if (unknown === undefined) return { scenario, contenders };
  throw refuse(`--only=${text}: ${scenario} has no contender "${unknown}"; it has ${known.join(', ')}.`);
}

function wholeNumber(name: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw refuse(`${name}=${text} must be a whole number from ${min} to ${max}.`);
}

function refuse(message: string, cause?: unknown): BenchError {
  return new BenchError('LAPSE_BENCH_ARGUMENT', message, { cause });
}
