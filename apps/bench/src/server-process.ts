/** An HTTP contender's own server: its name and port; the sale comes by LAPSE_BENCH_SALE. */
import { httpContenders } from './create/http-contenders.ts';
import { readyText } from './ready-text.ts';
import type { Sale } from './sale.ts';

const [name, port] = process.argv.slice(2);
const sale = JSON.parse(process.env.LAPSE_BENCH_SALE ?? '') as Sale;
await httpContenders.find((known) => known.name === name)?.serve?.(sale, Number(port));
process.stdout.write(`${readyText}\n`);
