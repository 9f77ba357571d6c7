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
    testTimeout: 60_000,
    hookTimeout: 120_000,
    retry: 0,
  },
});
