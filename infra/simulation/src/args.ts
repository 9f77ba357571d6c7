import { parseArgs } from 'node:util';
import { type FaultName, faultNames } from './faults.ts';
import { type Guards, guardNames, guardsWithout } from './guards.ts';

export interface SimulateArgs {
  /** First and last seed, both played. */
  readonly from: number;
  readonly to: number;
  readonly trace: boolean;
  readonly without: ReadonlySet<FaultName>;
  readonly guards: Guards;
}

/** `npm run simulate -- --help` explains them. @returns what is wrong with them, as text, or the arguments. */
export function readSimulateArgs(args: readonly string[]): SimulateArgs | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        trace: { type: 'boolean', default: false },
        without: { type: 'string', default: '' },
        off: { type: 'string', default: '' },
      },
    });
    const { seed, seeds, trace } = values;
    if ((seed === undefined) === (seeds === undefined))
      return 'give --seed=N or --seeds=FROM..TO, one of the two';
    const [, from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(seeds ?? `${seed}..${seed}`) ?? [];
    if (from === undefined || Number(from) > Number(to)) {
      return seeds === undefined
        ? '--seed must be a whole number'
        : '--seeds must be two whole numbers, the smaller first: 1..1000';
    }
    const without = pick(values.without, faultNames);
    if (without === undefined) return `--without takes ${faultNames.join(', ')}`;
    const off = pick(values.off, guardNames);
    if (off === undefined) return `--off takes ${guardNames.join(', ')}`;
    return {
      from: Number(from),
      to: Number(to),
      trace,
      without: new Set(without),
      guards: guardsWithout(...off),
    };
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\. To specify.*$/s, '');
  }
}

/** @returns the names between the commas, or undefined when one is not known. */
function pick<Name extends string>(text: string, known: readonly Name[]): Name[] | undefined {
  const names = text.split(',').filter((name) => name !== '');
  const picked = names.flatMap((name) => known.find((one) => one === name) ?? []);
  return picked.length === names.length ? picked : undefined;
}
