import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** An expression, and where it stands. */
interface Query {
  readonly expr: string;
  readonly where: string;
}
export interface Alert extends Query {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'command' | 'runbook', string>>;
}
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly (Alert & { readonly record: string })[] }[];
}

export const folder = new URL('../', import.meta.url);

function readText(file: string): string {
  return readFileSync(new URL(file, folder), 'utf8');
}

function readRules(file: string): (Alert & { readonly record: string })[] {
  const { groups } = parse(readText(`prometheus/${file}`)) as RuleFile;
  return groups.flatMap(({ rules }) => rules).map((rule) => ({ ...rule, where: rule.alert ?? rule.record }));
}

export const readAlerts = (): Alert[] => readRules('alert-rules.yaml');
export const readRecordings = (): (Query & { readonly record: string })[] =>
  readRules('recording-rules.yaml');
export const loadDashboard = (): Dashboard => JSON.parse(readText('grafana/lapse.json')) as Dashboard;
export const readRunbook = (): string => readText('../RUNBOOK.md');

/** The dashboard's queries, its variables replaced as Grafana does. */
export function readDashboard(): Query[] {
  return loadDashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ expr: expr.replaceAll('$__rate_interval', '1m'), where: title })),
  );
}
