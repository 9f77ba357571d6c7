import { createPrinter, explain, onStop } from '@lapse/stack';
import { parseChaosArgs } from './args.ts';
import { runChaos } from './run-chaos.ts';
import type { World } from './world.ts';

/** `npm run chaos`: one run; the last line says what it came to. */
const print = createPrinter();
const stop = new AbortController();
let kill = (): void => {};

onStop(
  (why) => {
    print.line(`stopping (${why})`);
    stop.abort();
  },
  () => {
    kill();
    process.exit(130);
  },
);

const result = await run().catch((error: unknown) => {
  print.line(`\n${explain(error)}`);
  return { line: '', ok: false };
});
print.end();
if (result.line !== '') print.line(result.line);
process.exit(stop.signal.aborted ? 130 : result.ok ? 0 : 1);

async function run(): Promise<{ readonly line: string; readonly ok: boolean }> {
  const args = parseChaosArgs(process.argv.slice(2));
  const onWorld = (world: World): void => {
    kill = world.kill;
  };
  return await runChaos({ ...args, print, signal: stop.signal, onWorld });
}
