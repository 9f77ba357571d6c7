/**
 * A contender's own process: `work NAME` or `arm NAME`; the sale comes by LAPSE_BENCH_SALE. It stays until it is
 * killed, so that what it used can still be read.
 */
import { closeContenders } from './close-burst/close-contenders.ts';
import { armedText } from './close-burst/own-program.ts';
import { readDeadline } from './close-burst/read-deadline.ts';
import { readyText } from './ready-text.ts';
import type { Sale } from './sale.ts';

const [what, name] = process.argv.slice(2);
const sale = JSON.parse(process.env.LAPSE_BENCH_SALE ?? '') as Sale;
const contender = closeContenders.find((known) => known.name === name);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

setInterval(() => undefined, 60_000);
if (what === 'arm') {
  say(readyText);
  await contender?.arm?.(sale, await readDeadline(sale));
  say(armedText);
} else {
  await contender?.work?.(sale, () => say(readyText));
}
