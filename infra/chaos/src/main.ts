import { runCommand } from '@lapse/stack';
import { parseChaosArgs } from './args.ts';
import { runChaos } from './run-chaos.ts';

/** `npm run chaos`: one run; the last line says what it came to. */
await runCommand(async ({ print, signal, onKill }) => {
  const args = parseChaosArgs(process.argv.slice(2));
  const { line, ok } = await runChaos({ ...args, print, signal, onWorld: (world) => onKill(world.kill) });
  print.end();
  if (line !== '') print.line(line);
  return ok ? 0 : 1;
});
