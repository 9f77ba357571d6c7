/** Locks a folder, says so, and waits to be killed; or says that it was refused. argv: data folder. */

import { LocalServiceError } from '../../src/local-service-error.ts';
import { lockFolder } from '../../src/lock-folder.ts';

try {
  lockFolder(process.argv[2] ?? '');
  process.stdout.write('locked\n');
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${error instanceof LocalServiceError ? error.code : error}\n`);
}
