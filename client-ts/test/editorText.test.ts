/** Text for the editor's own surfaces: no link, no icon, no hidden character, and no way round the types. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import MarkdownIt from 'markdown-it';
import { beforeAll, describe, expect, it } from 'vitest';

import { createAttention } from '../src/attention.ts';
import { block, createTexts, editorText } from '../src/editorText.ts';
import { inertMarkdown, neutralized } from '../src/serverText.ts';
import { fetchApproval, plainCommand } from './fixtures.ts';

/** As the editor finds links in a message, and icons in a label. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const ICON = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/;
// oxlint-disable-next-line no-control-regex -- these are what must not be left
const HIDDEN = /[\u0000-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uD800-\uDFFF]/;

const PIECES = [
  '[',
  ']',
  '(',
  ')',
  '](',
  '$(',
  '$',
  'command:workbench.action.quit',
  'https://x.example',
  'file:',
  'Review',
  'flame',
  '\n',
  '\r',
  '\t',
  '\u202E',
  '\u200B',
  '\\',
  '`',
  '!',
  '<',
  '>',
  ' ',
  '{0}',
  '&&',
  '\u001B[2K',
  '\uD83C',
  '\uDF89',
  '🎉',
  '%5B',
  '&#91;',
];
const LINKS = [
  '[Review](command:workbench.action.terminal.sendSequence?%7B%7D)',
  '![x](https://x.example/a.png)',
  '[a](command:x "t")',
  '[a][b]\n\n[b]: command:x',
  '<https://x.example>',
  '$(shield) $(loading~spin)',
  ...['\u200B', '\n', '\r', '\u00AD'].map((hidden) => `[a]${hidden}(command:x)`),
];

/** The same texts each time: a linear congruential generator picks the pieces. */
function hostileTexts(count: number): string[] {
  let state = 20_251;
  const next = (below: number): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;
  return [
    ...LINKS,
    ...Array.from({ length: count }, () =>
      Array.from({ length: 1 + next(14) }, () => PIECES[next(PIECES.length)]).join(''),
    ),
  ];
}

function check(text: string): void {
  expect(text).not.toMatch(LINK);
  expect(text).not.toMatch(ICON);
  expect(text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, '')).not.toMatch(HIDDEN);
}

describe('foreign text', () => {
  it('becomes one plain line, and stays the same when it passes twice', () => {
    for (const text of hostileTexts(5000)) {
      const made = editorText(text);
      check(made);
      expect(editorText(made)).toBe(made);
    }
  });

  it('that is harmless stays as it is', () => {
    for (const text of ['src/a b.py', 'café 🎉', 'Bash(npm run test:*)', 'a[0]', 'f(x)', '$HOME', 'C:\\x'])
      expect(editorText(text)).toBe(text);
  });

  it('is no longer than it should be, and what a block cuts off is counted', () => {
    expect(editorText('x'.repeat(300_000)).length).toBe(1000);
    expect(editorText('🎉'.repeat(3000))).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    const { detail } = createTexts((message) => message);
    expect(detail('{0}', block('x'.repeat(5000)))).toBe(`${'x'.repeat(2000)}… (3000 more characters)`);
    expect(detail('{0}', block('x\n'.repeat(100)))).toBe(`${'x\n'.repeat(29)}x… (141 more characters)`);
  });

  it('is a value of a message, never a part of its form; nor do two values make a link together', () => {
    const { t } = createTexts((message) => message);
    for (const text of hostileTexts(500)) check(t('{0} of {1}: {0}', text, text));
    check(t('{0}{1}', '[a]', '(command:x)'));
    check(t('{0}{1} {0}(flame)', '$', '(flame)'));
    expect(t('{0} {1}', '{1}', 'b')).toBe('{1} b');
  });

  it('keeps what it reads like in a dialog, where nothing is parsed', () => {
    const { detail } = createTexts((message) => message);
    expect(detail('{0}\n\n{1}', 'echo $(date) [a](b)', block('a\nb'))).toBe('echo $(date) [a](b)\n\na\nb');
    expect(detail('{0}', 'a\n\nb\u202E')).toBe('a\\n\\nb\\u202e');
  });
});

describe('what an agent can name', () => {
  const surfaces: string[] = [];
  const show = (...given: string[]): void => void surfaces.push(...given);
  for (const name of hostileTexts(60)) {
    it(JSON.stringify(name), async () => {
      surfaces.length = 0;
      const hostile = [
        plainCommand({ agentName: name }),
        plainCommand({ preview: { kind: 'command', command: name, cwd: name, parts: [] } }),
        plainCommand({ agentName: name, preview: { kind: 'diff', path: name, newText: name, operation: 'create' } }),
        { ...fetchApproval(), preview: { kind: 'fetch' as const, url: name, method: name } },
        plainCommand({
          preview: { kind: 'tool', server: name, input: { [name]: name } },
          toolCall: { ...plainCommand().toolCall, tool: `mcp__x__${name}` },
        }),
      ].map((approval, index) => ({ ...approval, approvalId: String(index) }));
      const attention = createAttention(
        {
          ...createTexts((message) => message),
          showStatus: (text, tooltip) => show(text.replaceAll(/^(?:\$\([a-z~]+\) ?)+/g, ''), tooltip),
          showBypass: (text, tooltip) => show((text ?? '').replace(/^\$\(warning\) /, ''), tooltip),
          setContext: () => undefined,
          notify: async (message) => (show(message), undefined),
          choose: async (message) => (show(message), undefined),
          pick: async (items, placeHolder) => (
            show(placeHolder, ...items.flatMap((item) => [item.label, item.description ?? '', item.detail ?? ''])),
            items[0]
          ),
          windowFocused: () => false,
          notifications: () => 'always',
          notificationSound: () => false,
          systemNotifications: () => true,
          systemNotifier: {
            found: { program: 'notify-send' },
            takesClicks: async () => true,
            show: (text, button) => (show(text, button), undefined),
            dispose: () => undefined,
          },
          raiseWindow: () => undefined,
          tell: (_, message) => show(message),
          run: () => undefined,
        },
        {
          approvals: () => hostile,
          postponed: () => new Set(),
          questions: () => [],
          agents: () => [{ agentName: name, type: 'acp', state: 'idle', label: 'gated', bypass: true, default: false }],
          answer: async () => undefined,
        },
        {
          setBadge: (_, tooltip) => show(tooltip),
          isVisible: () => false,
          whenReady: async () => false,
          postToView: () => undefined,
          postToVisible: () => undefined,
          showCardInTab: () => false,
        },
      );
      attention.stateChanged('stopped', name);
      await attention.review();
      expect(surfaces.length).toBeGreaterThan(hostile.length * 4);
      surfaces.forEach(check);
    });
  }
});

describe('what the server has the editor show', () => {
  const name = '[Review](command:a)\u202E$(flame)\nb';
  const inert = '[Review] (command:a)\\u202e$ (flame)\\nb';
  const cases: [string, object, object][] = [
    ['window/showMessage', { type: 1, message: name }, { type: 1, message: inert }],
    [
      'window/showMessageRequest',
      { message: name, actions: [{ title: name }] },
      { message: inert, actions: [{ title: inert }] },
    ],
    ['window/logMessage', { type: 1, message: 'a\u001B[2Kb\nc' }, { type: 1, message: 'a\\e[2Kb\nc' }],
    [
      '$/progress',
      { token: 1, value: { kind: 'begin', title: name, message: name } },
      { token: 1, value: { kind: 'begin', title: inert, message: inert } },
    ],
    [
      'textDocument/publishDiagnostics',
      { uri: 'file:///a', diagnostics: [{ message: name, code: 'rule', codeDescription: { href: 'command:a' } }] },
      { uri: 'file:///a', diagnostics: [{ message: inert, code: 'rule' }] },
    ],
    ['thread/update', { text: name }, { text: name }],
  ];
  it.each(cases)('%s', (method, params, expected) => {
    expect(neutralized({ jsonrpc: '2.0', method, params })).toEqual({ jsonrpc: '2.0', method, params: expected });
  });

  it('responses pass unchanged', () => {
    const answer = { jsonrpc: '2.0', id: 1, result: { message: name } };
    expect(neutralized(answer)).toBe(answer);
  });

  it('Markdown has no link to a command, no picture and no HTML', () => {
    const markdown = new MarkdownIt({ html: false, linkify: false });
    // As the editor does: whether a link is allowed is decided when it is drawn.
    markdown.validateLink = () => true;
    for (const text of hostileTexts(2000)) {
      const made = inertMarkdown({ value: text, isTrusted: true, supportHtml: true, supportThemeIcons: true });
      expect({ ...made, value: '' }).toEqual({
        value: '',
        isTrusted: false,
        supportHtml: false,
        supportThemeIcons: false,
      });
      expect(markdown.render(made.value)).not.toMatch(/<img|href="(?!https:)/i);
    }
  });
});

describe('the lint rule finds', () => {
  const bad: [string, string][] = [
    ['a message', "import * as vscode from 'vscode';\nvoid vscode.window.showErrorMessage('a');"],
    [
      'a method taken out of the editor',
      "import { window } from 'vscode';\nconst { showInformationMessage } = window;\nvoid showInformationMessage('a');",
    ],
    [
      'a method found by name',
      "import * as vscode from 'vscode';\nvoid (vscode.window as never as Record<string, (text: string) => void>)['showErrorMessage']!('a');",
    ],
    ['a Markdown string', "import { MarkdownString } from 'vscode';\nexport const text = new MarkdownString('a');"],
    ['a diff with a title', "declare const run: (command: string, title: string) => void;\nrun('vscode.diff', 'a');"],
    [
      'a cast',
      "import type { EditorText } from './editorText.ts';\nexport const text = (a: string): EditorText => a as EditorText;",
    ],
    [
      'a cast through never',
      "import type { EditorText } from './editorText.ts';\nexport const text = (a: string): EditorText => a as never;",
    ],
    [
      'a cast of a button that Enter presses',
      "import type { EditorText, SafeButton } from './editorText.ts';\nexport const safe = (a: EditorText): SafeButton => a as SafeButton;",
    ],
    [
      'a message of ours in a variable',
      'declare const host: { t(text: string): string };\nexport const text = (a: string): string => host.t(a);',
    ],
    [
      'a message of ours that is put together',
      'declare const t: (text: string) => string;\nexport const text = (a: string): string => t(`a ${a}`);',
    ],
    [
      'an icon that is put together',
      'declare const ownText: (text: string) => string;\nexport const text = (a: string): string => ownText(`$(${a})`);',
    ],
  ];
  const good =
    "declare const t: (text: string, value: string) => string;\nexport const text = (a: string): string => t('{0}', a);";
  const found = new Map<string, string[]>();

  beforeAll(async () => {
    const root = path.dirname(import.meta.dirname);
    const folder = mkdtempSync(path.join(tmpdir(), 'cs-lint-'));
    try {
      mkdirSync(path.join(folder, 'src'));
      for (const [index, source] of [...bad.map(([, text]) => text), good].entries())
        writeFileSync(path.join(folder, `src/file${index}.ts`), `${source}\n`);
      const args = [
        path.join(root, 'node_modules/oxlint/bin/oxlint'),
        '-c',
        path.join(root, '.oxlintrc.json'),
        '--format=unix',
        folder,
      ];
      const said = await new Promise<string>((resolve) =>
        execFile(process.execPath, args, { cwd: folder }, (_error, stdout, stderr) => resolve(stdout + stderr)),
      );
      for (const line of said.split('\n')) {
        const name = /file\d+/.exec(line)?.[0];
        if (name) found.set(name, [...(found.get(name) ?? []), line]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each(bad.map(([name], index) => [name, index] as const))('%s', (_, index) => {
    expect(found.get(`file${index}`)?.join('\n')).toMatch(/editor-text\((?:surfaces|brands|literals)\)/);
  });

  it('nothing where there is nothing', () => {
    expect(found.get(`file${bad.length}`)?.join('\n') ?? '').not.toMatch('editor-text');
  });
});
