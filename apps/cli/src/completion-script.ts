import type { Command as Program } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** A place on the command line, and what may follow it. */
interface Place {
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly string[];
}

/**
 * A completion script: all words are in it, so that TAB starts no process. A library that asks the program at each TAB
 * was left: that is 0.2 s of CPU each time.
 */
export function completionScript(program: Program, shell: Shell): string {
  const places = listPlaces(program, [], optionsOf(program));
  if (shell === 'fish') return fishScript(places);
  const bash = bashScript(places);
  return shell === 'bash'
    ? bash
    : `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function optionsOf(command: Program): string[] {
  return command.options.flatMap(({ long }) => long ?? []);
}

function listPlaces(command: Program, path: readonly string[], shared: readonly string[]): Place[] {
  const own: Place = {
    path,
    commands: command.commands.map((each) => ({ name: each.name(), about: each.description() })),
    options: [...new Set([...optionsOf(command), ...shared, '--help'])],
  };
  return [own, ...command.commands.flatMap((each) => listPlaces(each, [...path, each.name()], shared))];
}

function bashScript(places: readonly Place[]): string {
  // The longest path first: "order show" before "order".
  const cases = [...places]
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ path, commands, options }) => {
      const words = [...commands.map(({ name }) => name), ...options].join(' ');
      const text = path.map((word) => ` ${word}`).join('');
      return `    '${text}'|'${text} '*) words='${words}' ;;`;
    });
  return `# lapse completion: source it, or put it where your shell looks for completions
_lapse() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path= words= word at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    [[ $word == -* ]] || path+=" $word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _lapse lapse
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const names = commands.map(({ name }) => name).join(' ');
    const open = names === '' ? seen : [...seen, `not __fish_seen_subcommand_from ${names}`];
    const condition = (all: readonly string[]): string =>
      all.length === 0 ? '' : ` -n '${all.join('; and ')}'`;
    return [
      ...commands.map(
        ({ name, about }) => `complete -c lapse -f${condition(open)} -a ${name} -d ${quoted(about)}`,
      ),
      ...(names === ''
        ? options.map((option) => `complete -c lapse -f${condition(seen)} -l ${option.slice(2)}`)
        : []),
    ];
  });
  return `# lapse completion for fish\n${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
