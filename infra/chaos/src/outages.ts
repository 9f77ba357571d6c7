import { parseOutageArgs } from './outages/parse-outage-args.ts';
import { runOutages } from './outages/run-outages.ts';
import { runAsProgram } from './run-as-program.ts';

/** `npm run outages`: each service taken away and brought back; the last line says how long recovery took. */
await runAsProgram((parts) => runOutages({ ...parseOutageArgs(process.argv.slice(2)), ...parts }));
