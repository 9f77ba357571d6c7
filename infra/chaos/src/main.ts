import { parseChaosArgs } from './args.ts';
import { runAsProgram } from './run-as-program.ts';
import { runChaos } from './run-chaos.ts';

/** `npm run chaos`: one run; the last line says what it came to. */
await runAsProgram((parts) => runChaos({ ...parseChaosArgs(process.argv.slice(2)), ...parts }));
