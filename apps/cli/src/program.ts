import { Command as Program } from 'commander';
import type { CommandInput, LoadCommand, Runs } from './command.ts';
import { declareActivities } from './declare/activities.ts';
import { declareOrders } from './declare/orders.ts';
import { declareRepairs } from './declare/repairs.ts';
import { declareStock } from './declare/stock.ts';
import { declareSystem } from './declare/system.ts';
import type { Io } from './io.ts';

/** Runs a command that was found on the command line. */
type Act = (load: LoadCommand, input: CommandInput) => Promise<void>;

const about = `Lapse: unpaid orders close on time, and their stock comes back exactly once.

Answers any question about an order, and makes every repair, from the stores themselves: the API need not be up.
Settings are the LAPSE_* variables of the processes.`;

const codes = `
Exit codes: 0 done; 1 something was found, or the change was refused; 2 wrong usage or settings; 3 a store does not
answer; 4 unknown whether it was done: repeat it with the same --key; 70 a fault in Lapse.

First questions:
  $ lapse doctor                  is everything reachable and set up right?
  $ lapse top                     what is going on now?
  $ lapse explain order ID        why is this order in its state, and is any money owed?
  $ lapse audit                   do MySQL and Redis agree?`;

/** Every command with its options. Loads nothing that a command needs. */
export function buildProgram(io: Io, act: Act): Program {
  const program = new Program('lapse')
    .description(about)
    .option('--json', 'print one JSON document, with times in UTC, instead of text')
    .option('--verbose', 'show what the parts log, on standard error')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
    })
    .showHelpAfterError('(--help shows what would work)')
    .addHelpText('after', codes);
  const runs: Runs =
    (load) =>
    async (...passed) => {
      const command = passed.at(-1) as Program;
      await act(load, { args: command.args, options: command.optsWithGlobals() });
    };
  declareSystem(program, runs);
  declareOrders(program, runs);
  declareActivities(program, runs);
  declareStock(program, runs);
  declareRepairs(program, runs);
  return program;
}
