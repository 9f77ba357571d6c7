import { runCommand } from '@lapse/stack';
import { loseAMaster } from './lose-a-master.ts';

/** `npm run cluster`: one run; the last line says what it came to. */
await runCommand(async (command) => ((await loseAMaster(command)) ? 0 : 1));
