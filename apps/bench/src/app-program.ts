import { fileURLToPath } from 'node:url';
import { lapseEnvironment } from './lapse-environment.ts';
import type { Sale } from './sale.ts';
import type { Program } from './start-programs.ts';

type App = 'producer' | 'reminder' | 'closer' | 'sweeper';

/** A process of Lapse as it is deployed, with default settings but where its stores are; `env` adds what it must be told. */
export function appProgram(
  app: App,
  sale: Sale,
  name: string = app,
  env: Readonly<Record<string, string>> = {},
): Program {
  return {
    name,
    file: fileURLToPath(new URL(`../../${app}/dist/main.js`, import.meta.url)),
    env: { ...lapseEnvironment(sale), LAPSE_OPS_PORT: '0', ...env },
    readyText: '"started"',
  };
}
