import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findPromtool, promtoolLimitMs, runPromtool } from '../src/find-promtool.ts';
import { folder, loadDashboard, readAlerts, readDashboard, readRunbook } from './read-files.ts';

const alerts = readAlerts();
const runbook = readRunbook();
const sections = new Map(
  runbook
    .split(/^### /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
);
const promtool = findPromtool();
const promtoolMissing = 'promtool is not on this machine: apt-get install prometheus';
/** More than promtool has, so that its own limit speaks first. */
const promtoolTestMs = promtoolLimitMs + 20_000;

test('every alert has its section in the runbook, and every section its alert', () => {
  expect([...sections.keys()].sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});

test.each(alerts)(
  '$alert says what is wrong, what to type and where to read on; its section has all four parts',
  (alert) => {
    const { summary, description, command, runbook: link } = alert.annotations;
    expect(summary.length).toBeLessThan(100);
    expect(description).not.toBe('');
    expect(command).toMatch(/^lapse /);
    expect(link).toBe(`infra/RUNBOOK.md#${alert.alert.toLowerCase()}`);
    expect(['page', 'ticket']).toContain(alert.labels.severity);
    const section = sections.get(alert.alert) ?? '';
    for (const part of ['**Means.**', '**Buyers see**', '**Type**', '**Over when**'])
      expect(section).toContain(part);
    // What the alert says first is in the section too.
    for (const each of command.split('; ')) expect(section).toContain(each);
  },
);

/** Commands as they would be typed, without what is said of them. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/^(lapse [^#\n]*)/gm)].map(([, command = '']) => command.trim());
}

/** Whether `lapse` knows the command and each of its options; a group of commands is none. `--help` runs nothing. */
function isKnown(command: string): Promise<boolean> {
  const words = command.split(/\s+/).slice(1);
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0] ?? '');
  const names = words.filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith('--'));
  const main = fileURLToPath(new URL('../../apps/cli/dist/main.js', folder));
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...names, '--help'], { timeout: 20_000 }, (error, stdout) => {
      const usage = `Usage: lapse ${names.join(' ')}`;
      resolve(
        error === null &&
          stdout.startsWith(usage) &&
          !/^Commands:$/m.test(stdout) &&
          options.every((option) => stdout.includes(option)),
      );
    });
  });
}

test('every command that the runbook or an alert names is one that lapse has, with its options', async () => {
  const named = [
    ...commandsOf(runbook),
    ...alerts.flatMap(({ annotations }) => annotations.command.split('; ')),
  ];
  const commands = [...new Set(named)];
  expect(commands.length).toBeGreaterThan(20);
  const unknown: string[] = [];
  for (const command of commands) if (!(await isKnown(command))) unknown.push(command);
  expect(unknown).toEqual([]);
  expect(await isKnown('lapse order vanish')).toBe(false);
  expect(await isKnown('lapse top --sideways')).toBe(false);
  expect(await isKnown('lapse payments quarantined')).toBe(false);
}, 60_000);

/** Names of the gauges that a source file makes, but for those that say when the others were read. */
function gaugesOf(file: string, from = ''): string[] {
  const text = readFileSync(new URL(`../../apps/${file}`, folder), 'utf8');
  const names = [...text.slice(text.indexOf(from)).matchAll(/name: '(lapse_\w+)'/g)];
  return names.map(([, name = '']) => name).filter((name) => !name.includes('_timestamp_'));
}

/** Which of these an expression asks of processes that may tell the past. */
function unfiltered(expr: string, gauges: readonly string[], readAt: string): string[] {
  const isLate = ` and on (instance) (time() - ${readAt} < 120)`;
  const rest = gauges.reduce((text, gauge) => {
    const [before = '', ...parts] = text.split(new RegExp(`\\b${gauge}(?:{[^}]*})?(?!\\w)`));
    return before + parts.map((part) => (part.startsWith(isLate) ? part : `${gauge}!${part}`)).join('');
  }, expr);
  return gauges.filter((gauge) => rest.includes(`${gauge}!`));
}

test.each([
  {
    ...{ of: 'MySQL as a whole', gauges: gaugesOf('sweeper/src/state-metrics.ts') },
    readAt: 'lapse_state_read_timestamp_seconds',
  },
  {
    ...{ of: 'money', gauges: gaugesOf('settler/src/metrics.ts', 'backlog = {') },
    readAt: 'lapse_settler_read_timestamp_seconds',
  },
])('figures of $of are asked of no process that is cut off and tells the past', ({ gauges, readAt }) => {
  expect(gauges.length).toBeGreaterThan(5);
  for (const { expr, where } of [...alerts, ...readDashboard()]) {
    expect({ where, unfiltered: unfiltered(expr, gauges, readAt) }).toEqual({ where, unfiltered: [] });
  }
  for (const gauge of gauges)
    expect(unfiltered(`max(${gauge}{kind="a"}) > 1`, gauges, readAt)).toEqual([gauge]);
});

test('links inside the runbook lead to a section', () => {
  const anchors = new Set([...sections.keys()].map((name) => name.toLowerCase()));
  const links = [...runbook.matchAll(/\]\(#([a-z]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(1);
  expect(links.filter((anchor) => !anchors.has(anchor ?? ''))).toEqual([]);
});

test('the dashboard is one that Grafana takes: unique ids, a grid without overlaps, every panel asks something', () => {
  const { uid, title, schemaVersion, panels } = loadDashboard();
  expect({ uid, title }).toEqual({ uid: 'lapse', title: 'Lapse' });
  expect(schemaVersion).toBeGreaterThanOrEqual(36);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { type, gridPos, targets, title: name } of panels) {
    expect(gridPos.x + gridPos.w, name).toBeLessThanOrEqual(24);
    if (type !== 'row') expect(targets?.length, name).toBeGreaterThan(0);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x} ${y}`), `${name} at ${x} ${y}`).toBe(false);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

test.skipIf(!promtool)(
  `the rules fire when they must and not before (${promtool ? 'promtool' : promtoolMissing})`,
  async () => {
    const file = fileURLToPath(new URL('prometheus/rules.test.yaml', folder));
    const { ok, output } = await runPromtool(promtool ?? '', ['test', 'rules', file]);
    expect(ok, output).toBe(true);
  },
  promtoolTestMs,
);

test('a promtool that was ended by its limit of time says so', async () => {
  const forEver = ['--eval', 'setInterval(() => undefined, 1_000)'];
  const ended = await runPromtool(process.execPath, forEver, { limitMs: 100 });
  expect(ended).toEqual({ ok: false, output: 'ended by its limit of 100 ms, before it had answered\n' });
  const failed = await runPromtool(process.execPath, ['--eval', 'console.log("no"); process.exitCode = 1']);
  expect(failed).toEqual({ ok: false, output: 'no\n' });
});

test.skipIf(!promtool)(
  `every query of the dashboard is PromQL (${promtool ? 'promtool' : promtoolMissing})`,
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lapse-rules-'));
    const check = async (queries: readonly string[]): Promise<{ ok: boolean }> => {
      const rules = queries.map((expr, at) => ({ record: `panel:query${at}`, expr }));
      writeFileSync(join(dir, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
      return runPromtool(promtool ?? '', ['check', 'rules', join(dir, 'rules.yaml')]);
    };
    try {
      expect(await check(readDashboard().map(({ expr }) => expr))).toMatchObject({ ok: true });
      expect(await check(['sum by (le (rate(x[5m]))'])).toMatchObject({ ok: false });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
  promtoolTestMs,
);
