/**
 * A contender's own process: `work TASK NAME` or `arm TASK NAME`; the sale comes by LAPSE_BENCH_SALE. It stays until it
 * is killed, so that what it used can still be read.
 */
import { burstTasks } from './burst/burst-tasks.ts';
import { armedText } from './burst/own-program.ts';
import { readDeadline } from './burst/read-deadline.ts';
import { readyText } from './ready-text.ts';
import type { Sale } from './sale.ts';

const [what, taskName, name] = process.argv.slice(2);
const sale = JSON.parse(process.env.LAPSE_BENCH_SALE ?? '') as Sale;
const found = burstTasks.find(({ task }) => task.name === taskName);
const contender = found?.contenders.find((known) => known.name === name);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

setInterval(() => undefined, 60_000);
if (what === 'arm') {
  say(readyText);
  await contender?.arm?.(sale, await readDeadline(sale, found?.task.dueColumn));
  say(armedText);
} else {
  await contender?.work?.(sale, () => say(readyText));
}
