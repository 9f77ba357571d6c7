import type { Shop } from '@lapse/test-shop';
import type { z } from 'zod';
import { runCommandLine } from '../src/run-command-line.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command line on these settings, in this process; output is caught. */
export function openCli(env: Readonly<Record<string, string>>) {
  const run = async (...args: string[]): Promise<Ran> => {
    const [out, err]: [string[], string[]] = [[], []];
    const code = await runCommandLine(args, {
      env,
      out: { write: (text: string) => void out.push(text) },
      err: { write: (text: string) => void err.push(text) },
      signal: new AbortController().signal,
    });
    return { code, out: out.join(''), err: err.join('') };
  };
  /** With --json, and what it printed by its documented shape: anything else in it fails. */
  const json = async <Shape extends z.ZodType>(shape: Shape, ...args: string[]) => {
    const ran = await run(...args, '--json');
    if (ran.out === '') throw new Error(`nothing was printed: ${ran.err}`);
    const document: unknown = JSON.parse(ran.out);
    return { ...ran, data: shape.parse(document) as z.output<Shape> };
  };
  return { run, json };
}
export type Cli = ReturnType<typeof openCli>;

/** The settings by which a process finds the shop's stores. */
export function envOf(shop: Pick<Shop, 'databaseUrl' | 'redisUrl'>): Record<string, string> {
  return { LAPSE_MYSQL_URL: shop.databaseUrl, LAPSE_REDIS_URL: shop.redisUrl };
}

/** What a person adds to make it so. */
export const applied = ['--apply', '--reason', 'of the test', '--actor', 'boss'];
