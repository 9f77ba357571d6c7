/**
 * Starts one long-running child, prints its number, and waits to be killed.
 * argv: data folder, "bound" or "free" (whether the kernel stops the child with its parent).
 */
import { identifyProcess } from '../../src/process-identity.ts';
import { spawnOwned } from '../../src/spawn-owned.ts';

const [dir = '', mode = 'bound'] = process.argv.slice(2);
const child = spawnOwned({
  name: 'sleeper',
  command: 'sleep',
  args: ['600'],
  dir,
  dieWithParent: mode === 'bound',
});
process.stdout.write(`${JSON.stringify(identifyProcess(child.pid))}\n`);
setInterval(() => {}, 60_000);
