import { runCommand } from '@lapse/stack';
import { parseDrillArgs } from './drills/parse-drill-args.ts';
import { runDrills } from './drills/run-drills.ts';

/** `npm run drills`: the disasters of the runbook, each played for real; the last line names how each ended. */
await runCommand(async (tools) => runDrills({ ...parseDrillArgs(process.argv.slice(2)), ...tools }));
