/**
 * Arguments of Node before the program of every process, as its container starts it: infra/docker/Dockerfile has the
 * same. A young generation of 16 MB a half, which is what Node had before version 24: its own 64 MB there cost every
 * process up to 80 MB of memory and gain no speed that can be measured (infra/decisions/0023).
 */
export const nodeArgs: readonly string[] = ['--enable-source-maps', '--max-semi-space-size=16'];
