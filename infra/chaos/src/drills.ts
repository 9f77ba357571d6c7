import { parseDrillArgs } from './drills/parse-drill-args.ts';
import { runDrills } from './drills/run-drills.ts';
import { runAsProgram } from './run-as-program.ts';

/** `npm run drills`: the disasters of the runbook, each played for real; the last line names how each ended. */
await runAsProgram((parts) => runDrills({ ...parseDrillArgs(process.argv.slice(2)), ...parts }));
