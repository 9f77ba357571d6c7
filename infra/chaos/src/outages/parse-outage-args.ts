import { parseOptions, UsageError } from '@lapse/stack';
import { type OutageCase, outageCases, outageKinds, outageServices, quickCases } from './outage-case.ts';

export interface OutageArgs {
  readonly cases: readonly OutageCase[];
  /** Where all figures are written to; null: nowhere. */
  readonly json: string | null;
  readonly keep: boolean;
}

const secondsMax = 3_600;

/** @throws {UsageError} saying what would work. */
export function parseOutageArgs(args: readonly string[]): OutageArgs {
  const { quick, only, json, keep } = parseOptions(args, {
    quick: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    keep: { type: 'boolean' },
  });
  const base = quick === true ? quickCases : outageCases;
  const cases = only === undefined ? base : only.flatMap((text) => casesOf(text, base));
  return { cases, json: json ?? null, keep: keep === true };
}

/** `mysql`, `mysql:60` or `mysql:60:cut`: those of the plan; what is not in the plan is played as it is asked. */
function casesOf(text: string, plan: readonly OutageCase[]): OutageCase[] {
  const [name, length, kind, ...rest] = text.split(':');
  const service = outageServices.find((known) => known === name);
  const how = outageKinds.find((known) => known === kind);
  const seconds = Number(length);
  const isLength = length === undefined || (/^\d+$/.test(length) && seconds >= 1 && seconds <= secondsMax);
  if (service === undefined || !isLength || (kind !== undefined && how === undefined) || rest.length > 0) {
    throw new UsageError(
      `--only=${text} must be ${outageServices.join(', ')}, or with seconds from 1 to ${secondsMax} and one of ` +
        `${outageKinds.join(', ')}: mysql:60 or mysql:60:cut.`,
    );
  }
  if (length === undefined) return plan.filter((each) => each.service === service);
  return (how === undefined ? outageKinds : [how]).map((each) => ({ service, how: each, seconds }));
}
