/** What the sandbox holds, or why there is none, reaches the person in the server's sentences, as plain text. */
import { expect, it } from 'vitest';

import { createTexts } from '../src/editorText.ts';
import { showSandboxStatus } from '../src/sandboxStatus.ts';
import type * as wire from '../src/wire.gen.ts';

const held: wire.SandboxStatus = { available: true, backend: 'bubblewrap', holds: ['no network'], mode: 'commands' };
const none: wire.SandboxStatus = { available: false, backend: 'none', reason: 'no bwrap', holds: [], mode: 'off' };

async function shown(answer: wire.SandboxStatus | Error): Promise<string[]> {
  const said: string[] = [];
  await showSandboxStatus(
    {
      async request(): Promise<never> {
        if (answer instanceof Error) throw answer;
        return answer as never;
      },
    },
    {
      ...createTexts((message) => message),
      pick: async (items, question) =>
        void said.push(question, ...items.map(({ label, detail }) => [label, detail].filter(Boolean).join('\n'))),
      tell: (level, message) => void said.push(`${level} ${message}`),
    },
  );
  return said;
}

it.each<[string, wire.SandboxStatus | Error, RegExp[]]>([
  ['what holds', held, [/run in the sandbox/, /^no network$/]],
  ['that agents run in it, too', { ...held, mode: 'all' }, [/hosted agents run in the sandbox/, /^no network$/]],
  ['that reads alone are confined', { ...held, mode: 'off' }, [/just read run in it/, /^no network$/]],
  [
    'a long sentence in two rows',
    { ...held, holds: [`${'a'.repeat(40)}, ${'b'.repeat(40)}; ${'c'.repeat(40)}`] },
    [/run in the sandbox/, /^a{40}, b{40};\nc{40}$/],
  ],
  ['why there is none', none, [/no sandbox here/, /^no bwrap$/]],
  ['that commands ask without one', { ...none, mode: 'all' }, [/every command asks/, /^no bwrap$/]],
  ['that the server gave no answer', new Error('gone'), [/^error .*gone/]],
  ['no icon of a hostile sentence', { ...none, reason: '$(check) fine' }, [/no sandbox/, /^(?!\$\().*check/]],
])('says %s', async (_, answer, patterns) => {
  const said = await shown(answer);
  expect(said).toHaveLength(patterns.length);
  for (const [index, pattern] of patterns.entries()) expect(said[index]).toMatch(pattern);
});
