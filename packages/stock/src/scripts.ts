import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { StagedKeys, StockKeys } from './stock-keys.ts';

/** The Lua scripts as functions. One round trip each; ioredis sends a hash, and the text once per connection. */
export interface StockScripts {
  reserve(keys: StockKeys, argv: readonly string[]): Promise<unknown>;
  release(keys: StockKeys, orderIds: readonly string[]): Promise<unknown>;
  confirm(keys: StockKeys, orderIds: readonly string[]): Promise<unknown>;
  swapIn(keys: StockKeys, staged: StagedKeys, argv: readonly string[]): Promise<unknown>;
  reacquire(keys: StockKeys, argv: readonly string[]): Promise<unknown>;
  setCapacity(keys: StockKeys, argv: readonly string[]): Promise<unknown>;
  prune(keys: StockKeys, argv: readonly string[]): Promise<unknown>;
}

type ScriptCommand = (...keysAndArgv: readonly string[]) => Promise<unknown>;

/** As ioredis knows a script. */
export function scriptName(file: string): string {
  return `lapse:${file}`;
}

/** `lua/` lies beside both `src/` and `dist/`, so this address serves sources and build alike. */
function defineScript(redis: Redis, file: string, numberOfKeys: number): ScriptCommand {
  const name = scriptName(file);
  const lua = readFileSync(new URL(`../lua/${file}.lua`, import.meta.url), 'utf8');
  redis.defineCommand(name, { numberOfKeys, lua });
  // Commands defined at run time are unknown to the types of ioredis.
  const command = (redis as unknown as Record<string, ScriptCommand>)[name];
  if (command === undefined) throw new Error(`ioredis did not define ${name}.`);
  return command.bind(redis);
}

export function defineScripts(redis: Redis): StockScripts {
  const reserve = defineScript(redis, 'reserve', 5);
  const release = defineScript(redis, 'release', 4);
  const confirm = defineScript(redis, 'confirm', 2);
  const swapIn = defineScript(redis, 'swap-in', 10);
  const reacquire = defineScript(redis, 'reacquire', 5);
  const setCapacity = defineScript(redis, 'set-capacity', 3);
  const prune = defineScript(redis, 'prune', 1);
  return {
    reserve: ({ stock, users, holds, generation, seen }, argv) =>
      reserve(stock, users, holds, generation, seen, ...argv),
    release: ({ stock, users, holds, generation }, orders) =>
      release(stock, users, holds, generation, ...orders),
    confirm: ({ holds, generation }, orders) => confirm(holds, generation, ...orders),
    swapIn: ({ stock, users, holds, generation, capacity, load, seen }, staged, argv) =>
      swapIn(
        ...[stock, users, holds, generation, capacity, load, seen],
        ...[staged.users, staged.holds, staged.seen, ...argv],
      ),
    reacquire: ({ stock, users, holds, generation, seen }, argv) =>
      reacquire(stock, users, holds, generation, seen, ...argv),
    setCapacity: ({ stock, generation, capacity }, argv) => setCapacity(stock, generation, capacity, ...argv),
    prune: ({ holds }, argv) => prune(holds, ...argv),
  };
}
