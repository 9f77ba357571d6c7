import { markdownTable } from 'markdown-table';
import type { BenchResult, Machine, Outcome, ScenarioResult } from '../result.ts';
import type { Picture } from './draw-pictures.ts';
import { formatNumber, megabytes } from './format-number.ts';
import { goalTable } from './goal-table.ts';
import { figureTable, storeTable } from './scenario-table.ts';

/** What of a report comes from the figures: Markdown by name. `goals`, `machine`, and one for each scenario. */
export function reportBlocks(result: BenchResult, pictures: readonly Picture[]): ReadonlyMap<string, string> {
  return new Map([
    ['goals', [goalTable(result), code(result.closingLine)].join('\n\n')],
    ['machine', machineText(result)],
    ...result.scenarios.map((scenario): [string, string] => [
      scenario.name,
      scenarioText(
        scenario,
        pictures.filter((picture) => picture.scenario === scenario.name),
      ),
    ]),
  ]);
}

function scenarioText(scenario: ScenarioResult, pictures: readonly Picture[]): string {
  const rounds = scenario.rounds === 1 ? 'one round' : `medians of ${scenario.rounds} rounds`;
  return [
    `*${scenario.about}; ${rounds}*`,
    ...pictures.map(({ alt, file }) => `![${alt}](${file})`),
    figureTable(scenario),
    storeTable(scenario),
    scenario.contenders.map((contender) => contenderText(contender, scenario.rounds)).join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What it is, how often it ran where that is not as often as others, and why it has no figure, where it has none. */
function contenderText(
  { name, about, outcomes }: ScenarioResult['contenders'][number],
  rounds: number,
): string {
  const missing = outcomes.flatMap((outcome) => missingText(outcome) ?? []);
  const times = [...new Set(missing)].map((text) => {
    const count = missing.filter((each) => each === text).length;
    return count === outcomes.length ? text : `in ${count} of ${outcomes.length} rounds ${text}`;
  });
  const fewer = outcomes.length > 0 && outcomes.length < rounds ? [`rounds: ${outcomes.length}`] : [];
  return [`- **${name}**: ${about}`, ...fewer, ...times].join('; ');
}

function missingText(outcome: Outcome): string | undefined {
  if (outcome.kind === 'measured') return undefined;
  if (outcome.kind === 'skipped') return `skipped: ${code(outcome.reason)}`;
  return `**no figure**: ${code(outcome.reasons.join('; '))}`;
}

function machineText({ startedAt, seconds, quick, machine, load }: BenchResult): string {
  const loads = (values: readonly number[]): string => values.map(formatNumber).join(', ');
  const rows = [
    [
      'measured',
      `${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${formatNumber(seconds / 60)} minutes${quick ? ', --quick' : ''}`,
    ],
    ['machine', machineName(machine)],
    ['system', `${machine.system}, Node ${machine.node}`],
    ['load average (1, 5, 15 min)', `${loads(load.before)} before, ${loads(load.after)} after`],
    ...Object.entries(machine.versions).map(([name, version]) => [`version of ${name}`, version]),
    ...Object.entries(machine.settings).map(([name, value]) => [name, code(value)]),
  ];
  return markdownTable([['', ''], ...rows]);
}

function machineName({ cpu, cores, memoryBytes }: Machine): string {
  return `${cores} cores, ${cpu}, ${formatNumber(megabytes(memoryBytes) / 1_000)} GB`;
}

/** As it is, on one line: texts of other programs are no Markdown. */
function code(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'");
  return line === '' ? '' : `\`${line}\``;
}
