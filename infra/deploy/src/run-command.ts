import { execFile } from 'node:child_process';
import { DeployError } from './deploy-error.ts';

/** Longest time of one command: a tree on a busy machine takes some ten seconds. */
const commandTimeoutMs = 180_000;
const outputBytesMax = 16_777_216;
/** The end of the output that an error quotes, in characters. */
const quotedMax = 2_000;

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly signal: AbortSignal;
}

/**
 * Run a program to its end.
 * @returns what it wrote to standard output.
 * @throws {DeployError} with the given code and the end of its output, when it does not exit with 0.
 */
export function runCommand(
  code: DeployError['code'],
  program: string,
  args: readonly string[],
  { cwd, env, uid, signal }: CommandOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      ...{ cwd, env, signal, timeout: commandTimeoutMs, maxBuffer: outputBytesMax },
      ...(uid !== undefined && { uid, gid: uid }),
    };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const said = `${stdout}${stderr}`.slice(-quotedMax).trim();
      reject(
        new DeployError(code, `${[program, ...args].join(' ')}: ${said || error.message}`, { cause: error }),
      );
    });
  });
}
