import { runCommand } from '@lapse/stack';
import { parseOutageArgs } from './outages/parse-outage-args.ts';
import { runOutages } from './outages/run-outages.ts';

/** `npm run outages`: each service taken away and brought back; the last line says how long recovery took. */
await runCommand(async (tools) => runOutages({ ...parseOutageArgs(process.argv.slice(2)), ...tools }));
