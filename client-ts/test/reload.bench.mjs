// Seconds that the view's model takes for the requests on standard input (a JSON list), told one after the other, as a
// server takes them up after a reload. Started by tests/bench/reload.py.
import { readFileSync } from 'node:fs';

import { build } from 'esbuild';

const [bundle] = (
  await build({
    entryPoints: [new URL('../webview/state.ts', import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    write: false,
  })
).outputFiles;
const { initialState, reduce } = await import(
  `data:text/javascript;base64,${Buffer.from(bundle.text).toString('base64')}`
);
const approvals = JSON.parse(readFileSync(0, 'utf8'));

const began = performance.now();
const state = approvals.reduce(
  (known, approval) => reduce(known, { type: 'approvalRequest', approval }),
  initialState(),
);
const took = (performance.now() - began) / 1000;
if (state.waiting.length !== approvals.length)
  throw new Error(`${state.waiting.length} of ${approvals.length} are in the model`);
console.log(took);
