// @vitest-environment jsdom
/** What the server wrote is drawn in the language of the window, with the English as its title; nothing else is. */
import { expect, it } from 'vitest';

import { editorText } from '../../src/editorText.ts';
import { createReasons } from '../../src/reasons.ts';
import { neutralized } from '../../src/serverText.ts';
import { fakeWebview, openedWith, snapshot } from '../fakeWebview.ts';
import { commandApproval, plainCommand } from '../fixtures.ts';

const reasons = {
  'no rule matches': 'keine Regel passt',
  'deletes files': 'löscht Dateien',
  'the call has changed': 'der Aufruf ist anders',
  '`{0}` is not a file': '`{0}` ist keine Datei',
};
const drawn = (): [string, string][] =>
  [...document.querySelectorAll<HTMLElement>('[data-testid="translated"]')].map((one) => [one.textContent, one.title]);

it('a card: its reason, its risks, and why an answer was not taken', async () => {
  const approval = { ...plainCommand(), reason: 'no rule matches', risks: ['deletes files', 'something new'] };
  const webview = await fakeWebview(snapshot({ approvals: [approval], reasons }));
  await webview.say({ type: 'answerFailed', approvalId: approval.approvalId, message: 'the call has changed' });
  expect(drawn()).toEqual([
    ['löscht Dateien', 'deletes files'],
    ['Keine Regel passt', 'no rule matches'],
    ['der Aufruf ist anders', 'the call has changed'],
  ]);
  expect(document.querySelector('.risks')?.textContent).toContain('something new');
  expect(webview.bridge.state.saying).toBe('der Aufruf ist anders');
});

it('a card: the commands, names and titles of an agent stay as they are', async () => {
  const approval = commandApproval({ preview: { kind: 'command', command: 'no rule matches', cwd: '/w', parts: [] } });
  const titled = { ...approval, toolCall: { ...approval.toolCall, title: 'no rule matches' }, reason: 'x', risks: [] };
  await fakeWebview(snapshot({ approvals: [{ ...titled, agentName: 'no rule matches' }], reasons }));
  expect(document.body.textContent).not.toContain('keine Regel');
  expect(drawn()).toEqual([]);
});

it('a chat: notices of the server, and not what an agent says in the same words', async () => {
  await fakeWebview(
    snapshot({ reasons }),
    openedWith([
      { type: 'prompt', text: 'no rule matches' },
      { type: 'text', text: 'no rule matches' },
      { type: 'notice', level: 'info', message: '`a\u202Eb` is not a file' },
    ]),
  );
  expect(drawn()).toEqual([['`a\\u202eb` ist keine Datei', '`a\\u202eb` is not a file']]);
});

it('English again where the window has no table', async () => {
  const approval = { ...plainCommand(), reason: 'no rule matches' };
  await fakeWebview(snapshot({ approvals: [approval] }));
  expect(drawn()).toEqual([]);
  expect(document.querySelector('.why-line')?.textContent).toContain('No rule matches');
});

it('problems and messages that the editor itself shows', () => {
  const { translated } = createReasons(reasons);
  const fromServer = (text: string): string => translated(text) ?? text;
  const shown = (params: object, method: string): unknown =>
    (neutralized({ method, params }, fromServer) as { params: unknown }).params;
  expect(shown({ message: 'no rule matches' }, 'window/showMessage')).toEqual({ message: 'keine Regel passt' });
  const diagnostics = [{ message: '`](x)` is not a file', source: 'no rule matches' }];
  expect(shown({ diagnostics }, 'textDocument/publishDiagnostics')).toEqual({
    diagnostics: [{ message: editorText('`](x)` ist keine Datei'), source: 'no rule matches' }],
  });
  expect(shown({ message: 'no rule matches' }, 'window/logMessage')).toEqual({ message: 'no rule matches' });
});
