import { defineConfig } from 'vitest/config';

/** Shared by every package: tests run from TypeScript sources, against real services. */
export default defineConfig({
  resolve: { conditions: ['@lapse/source'] },
  ssr: { resolve: { conditions: ['@lapse/source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', ['json', { outputFile: 'test-results/vitest.json' }]],
    // Integration tests share two cores with a broker: a file at a time keeps timing honest.
    fileParallelism: false,
    // All in one process: what they import is most of their own CPU time (order-repository: 44 s to 18 s).
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    retry: 0,
  },
});
