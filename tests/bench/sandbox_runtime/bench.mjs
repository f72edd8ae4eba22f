// `@anthropic-ai/sandbox-runtime`, timed for tests/bench/spawn.py, which says what is measured. Its argument is a JSON
// object `{workspace, hidden}`. It says one line when it is ready; then each line of its input is answered by one line with the
// milliseconds of one `true` in the sandbox, from the making of its command line to its end. Ends with its input.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';

const { workspace, hidden } = JSON.parse(process.argv[2]);
process.chdir(workspace);
await SandboxManager.initialize({
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: hidden, allowWrite: [workspace], denyWrite: [] },
});
process.stdout.write('ready\n');
for await (const _line of createInterface({ input: process.stdin })) {
  const start = performance.now();
  const child = spawn(await SandboxManager.wrapWithSandbox('true'), { shell: true, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`true ended with ${code}`);
  process.stdout.write(`${performance.now() - start}\n`);
}
await SandboxManager.reset();
process.exit(0);
