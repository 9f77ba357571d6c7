/**
 * Arguments of Node before the program of every process, as its container starts it: infra/docker/Dockerfile has the
 * same. A young generation of 32 MB a half: with Node's own 64 MB a process takes up to 80 MB more, with 16 MB much of what
 * a request in flight holds grows old before it is answered (infra/decisions/0023). No object is born old: of such ones, dead
 * and not yet collected, each kept alive what came after it (infra/decisions/0027).
 */
export const nodeArgs: readonly string[] = [
  '--enable-source-maps',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
];
