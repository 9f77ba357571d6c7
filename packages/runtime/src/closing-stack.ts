import type { Closable } from './closable.ts';
import type { Logger } from './logger.ts';
import { timeBox } from './time-box.ts';

export interface ClosingStack {
  /** `name` is for the log; without it, parts are numbered in order of opening. */
  own<T extends Closable>(closable: T, name?: string): T;
  /** Call `stopping` on everything; from here on, so does `own`. */
  announce(): void;
  /** Close what is open, last opened first, until nothing is left. Never rejects. */
  closeAll(): Promise<void>;
  /** Names of what is still open, or closing. */
  open(): string[];
}

interface Part {
  readonly name: string;
  readonly closable: Closable;
}

/** What a process has open. Each close gets its own try and its own time box: one that hangs or fails stops no other. */
export function createClosingStack(log: Logger, closeTimeoutMs: number): ClosingStack {
  const open: Part[] = [];
  let opened = 0;
  let announced = false;

  const announceOne = ({ name, closable }: Part) => {
    try {
      closable.stopping?.();
    } catch (error) {
      log.error({ part: name, err: error }, 'a part could not be told that the process stops');
    }
  };

  const closeOne = async ({ name, closable }: Part) => {
    try {
      await timeBox(closable.close(), closeTimeoutMs, `closing ${name}`);
    } catch (error) {
      log.error({ part: name, err: error }, 'a part did not close; going on without it');
    }
  };

  return {
    own: (closable, name) => {
      opened += 1;
      const part = { name: name ?? `part ${opened}`, closable };
      open.push(part);
      if (announced) announceOne(part);
      return closable;
    },
    announce: () => {
      announced = true;
      for (const part of open) announceOne(part);
    },
    closeAll: async () => {
      for (let part = open.at(-1); part; part = open.at(-1)) {
        await closeOne(part);
        open.splice(open.indexOf(part), 1);
      }
    },
    open: () => open.map(({ name }) => name),
  };
}
