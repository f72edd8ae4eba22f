import { defineConfig } from 'vitest/config';

// axe in a document without a real browser takes seconds on a busy machine.
/** A bound that only guards against hanging; `COUNTERSIGN_TEST_PATIENCE` scales those of all tests. */
const PATIENCE = 2 * Number(process.env.COUNTERSIGN_TEST_PATIENCE ?? '1');

export default defineConfig({
  test: { include: ['test/**/*.test.ts'], setupFiles: ['test/setup.ts'], testTimeout: 60_000 * PATIENCE, restoreMocks: true },
});
