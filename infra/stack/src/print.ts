import { LocalServiceError } from '@lapse/local-services';
import pc from 'picocolors';

/**
 * What a person sees. On a terminal: coloured, short, one living last line. In a pipe: plain
 * lines, each said once. Steps may run side by side; each says its own seconds when it ends.
 */
export interface Printer {
  /** Run one step and say how long it took, or that it failed. Errors pass through. */
  step<T>(doing: string, done: string | ((result: T) => string), task: () => Promise<T>): Promise<T>;
  line(text?: string): void;
  warn(text: string): void;
  /** The one living line; in a pipe it is printed when its text is new, at most every few seconds. */
  status(text: string): void;
  /** Take the living line off the terminal: last words follow. */
  end(): void;
  /** Say nothing more: what was printed last stays last. */
  mute(): void;
}

/** A pipe must not fill with status: a line at most so often. */
const statusEveryMs = 5_000;

export function createPrinter(out: NodeJS.WriteStream = process.stdout): Printer {
  const live = out.isTTY === true;
  const colour = pc.createColors(live && pc.isColorSupported);
  const running = new Set<string>();
  let status = '';
  let printed = '';
  let printedAt = 0;
  let drawn = false;
  let muted = false;

  const erase = (): void => {
    if (drawn) out.write('\r\x1b[K');
    drawn = false;
  };
  const draw = (): void => {
    if (!live || muted) return;
    erase();
    const text = running.size > 0 ? `  … ${[...running].join(', ')}` : status;
    if (text === '') return;
    const width = Math.max(20, (out.columns || 80) - 1);
    out.write(text.length > width ? `${text.slice(0, width - 1)}…` : text);
    drawn = true;
  };
  const say = (text: string): void => {
    if (muted) return;
    erase();
    out.write(`${text}\n`);
    draw();
  };
  // A reader that went away (`| head`) must not take the services down with an unhandled error.
  out.on('error', () => {});

  return {
    async step(doing, done, task) {
      const startedAt = performance.now();
      running.add(doing);
      draw();
      const seconds = (): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
      try {
        const result = await task();
        running.delete(doing);
        const text = typeof done === 'string' ? done : done(result);
        say(live ? `${colour.green('  ✓')} ${text} ${colour.dim(seconds())}` : `${text}: ${seconds()}`);
        return result;
      } catch (error) {
        running.delete(doing);
        // A start that was cut short did what it was told.
        const how =
          error instanceof LocalServiceError && error.code === 'LAPSE_SERVICE_STOPPED' ? 'stopped' : 'FAILED';
        say(
          live
            ? `${colour.red('  ✗')} ${doing} ${how} ${colour.dim(seconds())}`
            : `${doing} ${how}: ${seconds()}`,
        );
        throw error;
      }
    },
    line: (text = '') => say(text),
    warn: (text) => say(live ? `${colour.yellow('  !')} ${text}` : text),
    status(text) {
      status = text;
      if (live) return draw();
      if (text === printed || Date.now() - printedAt < statusEveryMs) return;
      printed = text;
      printedAt = Date.now();
      out.write(`${text}\n`);
    },
    mute() {
      erase();
      muted = true;
    },
    end() {
      status = '';
      running.clear();
      erase();
    },
  };
}
