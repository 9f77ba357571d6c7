import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  javaProperties,
  logback,
  logbackFile,
  type RocketmqUser,
  serialCompiler,
} from './rocketmq-config.ts';

const run = promisify(execFile);
const timeoutMs = 60_000;
const program = 'mqadmin';

/** RocketMQ's own tool, on the name server and broker that `args` name. It reads its login from a file in `dir`. */
export async function runMqadmin(
  { java, lib, dir }: { readonly java: string; readonly lib: string; readonly dir: string },
  args: readonly string[],
  admin: RocketmqUser | undefined,
): Promise<string> {
  mkdirSync(join(dir, 'conf'), { recursive: true });
  writeFileSync(logbackFile(dir, program), logback(dir, program));
  if (admin !== undefined) {
    const lines = [
      `accessKey: ${JSON.stringify(admin.accessKey)}`,
      `secretKey: ${JSON.stringify(admin.secretKey)}`,
    ];
    writeFileSync(join(dir, 'conf', 'tools.yml'), `${lines.join('\n')}\n`, { mode: 0o600 });
  }
  const { stdout, stderr } = await run(
    java,
    [
      ...['-Xmx128m', ...serialCompiler, ...javaProperties(dir, program), '-cp', `${lib}/*`],
      ...['org.apache.rocketmq.tools.command.MQAdminStartup', ...args],
    ],
    { timeout: timeoutMs, env: { PATH: process.env.PATH } },
  );
  const said = `${stdout}${stderr}`;
  if (!/success/i.test(said)) throw new Error(`mqadmin ${args[0]} did not succeed:\n${said}`);
  return said;
}
