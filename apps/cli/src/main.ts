#!/usr/bin/env node
/** The command `lapse`. This file only wires. */
import { runCommandLine } from './run-command-line.ts';

const stop = new AbortController();
// A second one ends the process at once, as ever.
process.once('SIGINT', () => stop.abort());

const code = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  signal: stop.signal,
});
// What was printed is flushed first: a pipe may be slower than this process.
process.stdout.write('', () => process.exit(code));
