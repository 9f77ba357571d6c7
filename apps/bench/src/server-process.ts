/** An HTTP contender's own server, by its name; the sale comes by LAPSE_BENCH_SALE, its port by LAPSE_BENCH_PLACE. */
import type { HttpPlace } from './create/http-contender.ts';
import { createContenders } from './create/http-contenders.ts';
import { readyText } from './ready-text.ts';
import type { Sale } from './sale.ts';

const [name] = process.argv.slice(2);
const sale = JSON.parse(process.env.LAPSE_BENCH_SALE ?? '') as Sale;
const place = JSON.parse(process.env.LAPSE_BENCH_PLACE ?? '') as HttpPlace;
await createContenders.find((known) => known.name === name)?.serve?.(sale, place);
process.stdout.write(`${readyText}\n`);
// In its own time, so that a CPU profile is written.
process.once('SIGTERM', () => process.exit(0));
