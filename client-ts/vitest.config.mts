import os from 'node:os';

import { defineConfig } from 'vitest/config';

/** Scales the bounds of all tests; they only guard against hanging. */
const PATIENCE = Number(process.env.COUNTERSIGN_TEST_PATIENCE ?? '1');

// axe in a document without a real browser takes seconds on a busy machine.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 120_000 * PATIENCE,
    restoreMocks: true,
    // By itself vitest leaves one processor alone, which takes half the speed of two.
    maxWorkers: Math.max(2, os.availableParallelism()),
  },
});
