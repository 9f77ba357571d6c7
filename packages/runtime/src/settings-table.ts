import type { Setting } from './settings/setting.ts';
import { settings } from './settings.ts';

/** The README's table of settings, in Markdown, generated so that it cannot go stale. Ends with a new line. */
export function settingsTable(): string {
  const rows = Object.entries(settings).flatMap(([group, { settings: fields }]) =>
    Object.values<Setting>(fields).map(
      (setting) =>
        `| \`${setting.env}\` | ${group} | ${defaultOf(setting)} | ${cell(setting.help)}${setting.secret ? ' **Secret.**' : ''} | ${code(setting.example)} |`,
    ),
  );
  return `${['| variable | group | default | what it does | example |', '|---|---|---|---|---|', ...rows].join('\n')}\n`;
}

function defaultOf(setting: Setting): string {
  if (setting.default !== undefined) return setting.default === '' ? 'empty' : code(setting.default);
  return setting.optional ? 'none' : '**required**';
}

function code(text: string): string {
  return `\`${cell(text)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
