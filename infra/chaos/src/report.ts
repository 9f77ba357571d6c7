import type { Printer } from '@lapse/stack';
import { describeVerdict } from '@lapse/testing';
import type { Judgement } from './judgement.ts';
import type { Ledger } from './ledger.ts';
import type { FaultLog } from './run-faults.ts';
import type { World } from './world.ts';

/** What the run was made of, in one line. */
export function report(
  print: Printer,
  { statuses, purchases, payments }: Ledger,
  { looks }: { looks: number },
): void {
  const answers = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status || 'no answer'}: ${count}`);
  print.line(
    `${purchases.length} wishes to buy, ${payments.length} payments; answers ${answers.join(', ')}; ${looks} looks on the way`,
  );
}

/** Of each kind; the closing line has the whole number. */
const linesMax = 15;

/** Everything that a person needs to find the cause: faults with their times, the verdict, the lines of the ledger. */
export function explainFailure(
  print: Printer,
  world: World,
  { verdict, faults }: Judgement,
  log: FaultLog,
  broken: ReadonlyMap<string, string>,
  ledger: Ledger,
): void {
  print.line('faults, by their time in the run:');
  for (const line of log.lines) print.line(`  ${line}`);
  const deaths = [...world.apps.map(({ kept }) => kept), ...Object.values(world.services.kept)].flatMap(
    ({ ownDeaths }) => ownDeaths,
  );
  for (const death of deaths) print.line(`  ${death}`);
  print.line(describeVerdict(verdict));
  for (const [id, seen] of broken) print.line(`on the way, ${id}: ${seen}`);
  for (const [name, list] of Object.entries({ ...faults, unexpected: ledger.unexpected })) {
    for (const line of list.slice(0, linesMax)) print.line(`${name}: ${line}`);
    if (list.length > linesMax) print.line(`${name}: and ${list.length - linesMax} more`);
  }
}
