import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { openCli } from './cli.ts';

const cli = openCli({});

/** What TAB offers in bash after these words; the last one is being typed. */
async function complete(...words: string[]): Promise<string[]> {
  const { code, out } = await cli.run('completion', 'bash');
  expect(code).toBe(0);
  const typed = ['lapse', ...words].map((word) => `'${word}'`).join(' ');
  const script = `${out}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _lapse; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim().split('\n');
}

test('TAB offers commands, then their commands, then options, by what is typed', async () => {
  expect(await complete('do')).toEqual(['doctor']);
  expect(await complete('order', '')).toEqual(
    expect.arrayContaining(['show', 'find', 'cancel', 'extend', 'close']),
  );
  expect(await complete('payments', 'quarantined', 'd')).toEqual(['dismiss']);
  expect(await complete('order', 'show', '019ad0c4', '--j')).toEqual(['--json']);
  expect(await complete('parked', 'redrive', '1', '--')).toEqual(
    expect.arrayContaining(['--apply', '--reason', '--json', '--help']),
  );
});

test('a script for each shell, and none for another', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { code, out } = await cli.run('completion', shell);
    expect([code, out]).toEqual([0, expect.stringContaining('quarantined')]);
  }
  expect((await cli.run('completion', 'tcsh')).code).toBe(2);
});
