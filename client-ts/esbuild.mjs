// Bundles the extension and its webview into dist/. `--watch` keeps at it; `--dev` adds source maps and skips minifying.
import { rmSync } from 'node:fs';

import * as esbuild from 'esbuild';

const dev = process.argv.includes('--dev') || process.argv.includes('--watch');
const common = {
  bundle: true,
  minify: !dev,
  sourcemap: dev,
  logLevel: 'info',
  legalComments: 'none',
  tsconfig: 'tsconfig.json',
};

const builds = [
  // mainFields: jsonc-parser's UMD build hides its requires from the bundler.
  // Node 20 is what the oldest supported editor runs extensions on.
  {
    ...common,
    entryPoints: { extension: 'src/extension.ts' },
    outdir: 'dist',
    platform: 'node',
    mainFields: ['module', 'main'],
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
  },
  {
    ...common,
    entryPoints: { webview: 'webview/main.ts' },
    outdir: 'dist',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    loader: { '.ttf': 'file' },
    assetNames: '[name]',
  },
];

rmSync('dist', { recursive: true, force: true });
if (process.argv.includes('--watch')) for (const build of builds) await (await esbuild.context(build)).watch();
else await Promise.all(builds.map((build) => esbuild.build(build)));
