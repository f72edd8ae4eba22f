// @vitest-environment jsdom
/** What a card says and which answers it offers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ToWebview } from '../../src/messages.ts';
import type * as wire from '../../src/wire.gen.ts';
import { armed, fakeWebview, opened, snapshot } from '../fakeWebview.ts';
import { diffApproval, fetchApproval, hostApproval, outsideCommand, plainCommand, toolApproval } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a card says what will happen and offers what the gate offered', () => {
  const heads: [string, ReturnType<typeof plainCommand>][] = [
    ['Run shell command?', plainCommand()],
    ['Run outside the sandbox?', outsideCommand()],
    ['Allow registry.example for this chat?', hostApproval()],
    ['Edit src/parse.py?', diffApproval()],
    ['Fetch docs.python.org?', fetchApproval()],
    ['Use create_issue of github?', toolApproval()],
  ];
  it.each(heads)('%s', async (head, approval) => {
    const webview = await fakeWebview(snapshot({ approvals: [approval] }), opened);
    const card = webview.find('[data-testid="approval-card"]');
    expect(document.getElementById(card.getAttribute('aria-labelledby')!)?.textContent).toBe(head);
  });

  it.each([
    ['gated', 'gated: every call comes to this desk'],
    ['asksOnly', 'asks only: it decides itself what to ask about'],
    ['sandboxed', 'sandboxed: locked in by the operating system'],
    ['unguarded', 'unguarded: it acts without this desk'],
  ] as const)('the label %s of a hosted agent has a color, and says what it means', async (label, words) => {
    const hosted: wire.AgentView = {
      agentName: 'Guest',
      type: 'acp',
      state: 'idle',
      label,
      bypass: false,
      default: false,
    };
    const approval = { ...plainCommand(), agentName: 'Guest' };
    const webview = await fakeWebview(snapshot({ agents: [hosted], approvals: [approval] }), opened);
    const button = webview.find('[data-testid="label"]');
    expect([button.textContent.trim(), button.title]).toEqual([words.split(':')[0], words]);
    expect(button.querySelector(`.dot.agent-${label}`)).not.toBeNull();
    button.click();
    await webview.settle();
    expect(webview.find('[data-testid="approval-card"] .effects').textContent).toContain(words);
    await webview.say(snapshot({ approvals: [plainCommand()] }));
    expect(document.querySelector('[data-testid="label"]'), 'none for the built-in agent').toBeNull();
  });

  it('the menu offers the grants, each rule in full, and bypass last', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve options').click();
    await webview.settle();
    const names = [...document.querySelectorAll('[role="menuitem"]')].map(
      (item) => document.getElementById(item.getAttribute('aria-labelledby')!.split(' ')[0]!)!.textContent,
    );
    expect(names).toEqual([
      'Allow for this turn',
      'Allow for this chat',
      'Allow for 15 minutes',
      'Always allow Bash(npm run test -- --watch=false) in this workspace',
      'Always allow Bash(npm run test -- --watch=false) everywhere',
      'Always allow Bash(npm run test:*) in this workspace',
      'Always allow Bash(npm run test:*) everywhere',
      'Always allow another rule…',
      'Bypass permissions for Countersign…',
    ]);
  });

  it('the diff has colors, and every character where it was', async () => {
    await fakeWebview(snapshot({ approvals: [diffApproval()] }), opened);
    const added = [...document.querySelectorAll('.kind-added .line-text')];
    expect(added.map((line) => line.textContent)).toEqual(['    return int(s.strip())\n', '    print(parse(" 7 "))\n']);
    expect(added.map((line) => line.querySelector('.token-keyword, .token-string')?.textContent)).toEqual([
      'return',
      '"', // a word of it is marked, so the string is drawn in pieces
    ]);
  });

  it('hidden characters stand there as escapes', async () => {
    await fakeWebview(
      snapshot({
        approvals: [
          plainCommand({ preview: { kind: 'command', command: 'echo \u202Eab\u200B\u0007', cwd: '/', parts: [] } }),
        ],
      }),
      opened,
    );
    expect([...document.querySelectorAll('.code .escape')].map((mark) => mark.textContent)).toEqual([
      '\\u202e',
      '\\u200b\\x07',
    ]);
  });

  it('says in the language of the editor that a character is hidden', async () => {
    const preview: wire.Preview = { kind: 'command', command: 'echo a\u200B', cwd: '/', parts: [] };
    const strings = { 'hidden character': 'verborgenes Zeichen' };
    await fakeWebview({ ...snapshot({ approvals: [plainCommand({ preview })] }), strings } as ToWebview, opened);
    expect(document.querySelector<HTMLElement>('.code .escape')?.title).toBe('verborgenes Zeichen');
  });

  it('an edited command is sent as the tool input', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Edit').click();
    await webview.settle();
    const field = webview.find('.edit textarea') as HTMLTextAreaElement;
    field.value = 'npm test';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await webview.settle();
    webview.button('Approve').click();
    expect(webview.sent('answer')).toEqual([
      {
        type: 'answer',
        approvalId: 'a-plain',
        digest: 'd-plain',
        optionId: 'allow_once',
        editedInput: '{"command":"npm test"}',
      },
    ]);
  });

  it('a denial can carry a message', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    webview.button('Deny options').click();
    await webview.settle();
    ([...document.querySelectorAll('[role="menuitem"]')][0] as HTMLElement).click();
    await webview.settle();
    const field = webview.find('.panel textarea') as HTMLTextAreaElement;
    field.value = 'use pnpm';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await webview.settle();
    webview.button('Deny').click();
    expect(webview.sent('answer')).toEqual([
      { type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'reject_once', reason: 'use pnpm' },
    ]);
  });

  it('an agent that offers no allow-once gets only Deny', async () => {
    await fakeWebview(
      snapshot({
        approvals: [plainCommand({ options: [{ optionId: 'reject_once', name: 'Deny', kind: 'reject_once' }] })],
      }),
      opened,
    );
    expect([...document.querySelectorAll('.card .primary')]).toEqual([]);
    expect(document.body.textContent).toContain('it can only be denied');
  });

  it('an answer that was not taken says why and can be given again', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve').click();
    await webview.say({
      type: 'answerFailed',
      approvalId: 'a-plain',
      message: 'the settings file has unsaved changes',
    });
    expect(webview.find('.card [role="alert"]').textContent).toContain('unsaved changes');
    expect(webview.button('Approve').disabled).toBe(false);
  });
});

describe('a variable that a command does not get can be passed from where it is named', () => {
  const withheld = ['MYAPP_PASS', 'DATABASE_URL'];
  const buttons = (): HTMLButtonElement[] => [
    ...document.querySelectorAll<HTMLButtonElement>('[data-testid="withheld"] button'),
  ];

  it('from its card, one press for each', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [{ ...plainCommand(), withheld }] }), opened);
    expect(buttons().map((button) => button.textContent.trim())).toEqual([
      'Pass MYAPP_PASS in this workspace…',
      'Pass DATABASE_URL in this workspace…',
    ]);
    buttons()[1]!.click();
    expect(webview.posted.filter(({ type }) => type === 'passVariable')).toEqual([
      { type: 'passVariable', name: 'DATABASE_URL' },
    ]);
    expect(webview.posted.some(({ type }) => type === 'answer')).toBe(false);
  });

  it('but not where the workspace is not trusted, since it would not count', async () => {
    await fakeWebview(snapshot({ trusted: false, approvals: [{ ...plainCommand(), withheld }] }), opened);
    expect(buttons()).toEqual([]);
  });
});
