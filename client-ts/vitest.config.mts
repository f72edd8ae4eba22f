import { defineConfig } from 'vitest/config';

// axe in a document without a real browser takes seconds on a busy machine.
export default defineConfig({
  test: { include: ['test/**/*.test.ts'], setupFiles: ['test/setup.ts'], testTimeout: 30_000, restoreMocks: true },
});
