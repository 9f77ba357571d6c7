/** How a command tells its steps, and how it fails. Node's built-ins alone. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

export const [command = 'start', ...args] = process.argv.slice(2);
// What the command line prints is data, for a pipe: steps are told beside it, and to a person alone.
export const isData = command === 'lapse';
const told = isData ? process.stderr : process.stdout;
const onTerminal = told.isTTY === true && !process.env.NO_COLOR;

/** Runs one program quietly. Its output is shown only when it fails, and then the process exits 1. */
export function run(program, programArgs, advice, goOn = () => false) {
  return new Promise((resolve) => {
    const child = spawn(program, programArgs, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    const forward = (signal) => {
      child.kill(signal);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    };
    process.once('SIGINT', forward).once('SIGTERM', forward);
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', (error) => fail(`${program} cannot be run: ${error.message}`));
    child.once('close', (code) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      if (code === 0 || goOn()) return resolve();
      process.stderr.write(`\n${Buffer.concat(output)}`);
      fail(advice.join('\n'));
    });
  });
}

export async function step(doing, done, task) {
  const startedAt = performance.now();
  if (onTerminal) told.write(`\x1b[2m  … ${doing}\x1b[22m`);
  // In a log too: the first time takes minutes, and a silent log looks like one that hangs.
  else if (!isData) told.write(`${doing} …\n`);
  await task();
  const seconds = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  if (onTerminal && isData) told.write('\r\x1b[K');
  else if (onTerminal) told.write(`\r\x1b[K\x1b[32m  ✓\x1b[39m ${done} \x1b[2m${seconds}\x1b[22m\n`);
  else if (!isData) told.write(`${done}: ${seconds}\n`);
}

export function fail(message) {
  process.stderr.write(`\nlapse ${command}: ${message}\n`);
  process.exit(1);
}
