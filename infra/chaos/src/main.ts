import { runCommand } from '@lapse/stack';
import { parseChaosArgs } from './args.ts';
import { runChaos } from './run-chaos.ts';

/** `npm run chaos`: one run; the last line says what it came to. */
await runCommand(async (tools) => runChaos({ ...parseChaosArgs(process.argv.slice(2)), ...tools }));
