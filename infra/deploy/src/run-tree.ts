import { join } from 'node:path';
import { nodeArgs } from '@lapse/testing';
import { confinedEnv, imageUser, readOnlyArgs } from './confine.ts';
import { runCommand } from './run-command.ts';
import type { StartOptions } from './start-tree.ts';

export type RunOptions = Omit<StartOptions, 'opsPort' | 'writable'> & { readonly args: readonly string[] };

/**
 * Run a tree that is a command to its end, confined like a process that stays.
 * @throws {DeployError} LAPSE_DEPLOY_COMMAND with the end of its output, when it does not exit with 0.
 */
export async function runTree({ tree, cwd, env, args, signal }: RunOptions): Promise<string> {
  const program = [...readOnlyArgs([]), ...nodeArgs, join(tree, 'dist', 'main.js'), ...args];
  return await runCommand('LAPSE_DEPLOY_COMMAND', process.execPath, program, {
    ...{ cwd, signal, env: confinedEnv(env) },
    ...(imageUser !== undefined && { uid: imageUser }),
  });
}
