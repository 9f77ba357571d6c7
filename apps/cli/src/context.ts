import { type OrderRepository, openOrderRepository } from '@lapse/order-repository';
import {
  type Closable,
  type Config,
  createLogger,
  type GroupName,
  type Logger,
  readConfig,
} from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import type { Io } from './io.ts';
import { progressBar } from './progress-bar.ts';
import { localWords, utcWords, type Words } from './words.ts';

/** What commands work with. Every store is opened when it is first asked for, and closed at the end. */
export interface Context extends Closable {
  readonly io: Io;
  readonly words: Words;
  readonly log: Logger;
  /** @throws ConfigError with every fault, before anything is opened. */
  config<G extends GroupName>(...groups: G[]): Config<G>;
  orders(): Promise<OrderRepository>;
  /** Resolves without Redis too; then each of its calls fails with LAPSE_STOCK_UNAVAILABLE. */
  stock(): Promise<Stock>;
  /** How far long work has come, with a bar where its share is known: one line on a terminal, nothing in a pipe. */
  progress(text: string, share?: number): void;
}

export interface ContextOptions {
  /** Show what the packages log, as JSON lines on standard error. */
  readonly verbose: boolean;
  /** Times in UTC, for programs. */
  readonly utc: boolean;
}

export function openContext(io: Io, { verbose, utc }: ContextOptions): Context {
  const destination = { write: (line: string) => void io.err.write(line) };
  const log = createLogger('lapse', verbose ? 'debug' : 'silent', destination);
  const opened: Closable[] = [];
  const once = <T extends Closable>(open: () => Promise<T>): (() => Promise<T>) => {
    let opening: Promise<T> | undefined;
    return () => {
      opening ??= open().then((store) => {
        opened.push(store);
        return store;
      });
      return opening;
    };
  };
  const config: Context['config'] = (...groups) => readConfig(io.env, groups);
  return {
    io,
    words: utc ? utcWords() : localWords(),
    log,
    config,
    orders: once(() => {
      const { mysql, shop } = config('mysql', 'shop');
      return openOrderRepository({ ...mysql, shopEvents: shop.webhookUrl !== undefined }, log);
    }),
    stock: once(async () => {
      const { redis } = config('redis');
      const { openStock } = await import('@lapse/stock');
      return openStock(redis, log);
    }),
    progress: (text, share) => {
      const bar = share === undefined ? '' : `${progressBar(share)}  `;
      if (io.err.isTTY === true) io.err.write(`\r\x1b[K${bar}${text}`);
    },
    close: async () => {
      if (io.err.isTTY === true) io.err.write('\r\x1b[K');
      await Promise.allSettled(opened.map((store) => store.close()));
    },
  };
}
