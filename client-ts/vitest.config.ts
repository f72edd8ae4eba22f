import { defineConfig } from 'vitest/config';

export default defineConfig({
  // As in the bundle: class fields that are defined would hide Lit's reactive properties.
  esbuild: { target: 'es2022', tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } } },
  test: { include: ['test/**/*.test.ts'], testTimeout: 10_000, restoreMocks: true },
});
