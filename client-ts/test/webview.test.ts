// @vitest-environment jsdom
import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ARMING_TIME } from '../webview/arming.ts';
import { fakeWebview, opened, snapshot } from './fakeWebview.ts';
import { commandApproval, diffApproval, fetchApproval, plainCommand, toolApproval } from './fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const armed = async (webview: Awaited<ReturnType<typeof fakeWebview>>): Promise<void> => {
  vi.advanceTimersByTime(ARMING_TIME);
  await webview.settle();
};
const press = (target: EventTarget, key: string, more: KeyboardEventInit = {}): boolean => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));

describe('the view is drawn from the state', () => {
  it('streamed text is drawn again as it grows', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say({ type: 'update', update: { threadId: 't-1', seq: 8, events: [{ type: 'text', text: 'Half a sen' }] } });
    expect(document.body.textContent).toContain('Half a sen');
    await webview.say({ type: 'update', update: { threadId: 't-1', seq: 9, events: [{ type: 'text', text: 'tence.' }] } });
    expect(document.body.textContent).toContain('Half a sentence.');
  });

  it('several messages of one frame are applied together, in order', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say({ type: 'approvalRequest', approval: plainCommand() }, { type: 'approvalResolved', resolved: { approvalId: 'a-plain', threadId: 't-1', state: 'cancelled', by: 'cancel' } });
    expect(document.querySelector('[data-testid="approval-card"]')).toBeNull();
    expect(webview.find('[role="status"]').textContent).toContain('cancelled');
  });

  it('what a model writes stays text', async () => {
    await fakeWebview(snapshot(), opened);
    expect(document.querySelector('img')).toBeNull();
    expect(document.body.textContent).toContain('<img src=x onerror=alert(1)>');
  });

  it('the newest chat is opened once the server’s chats are there, and again after it was gone', async () => {
    const webview = await fakeWebview(snapshot({ threads: [], loaded: false }));
    await webview.say({ type: 'connection', connection: { state: 'running' } });
    expect(webview.sent('openThread')).toEqual([]);
    await webview.say(snapshot());
    await webview.say(opened);
    expect(webview.sent('openThread')).toEqual([{ type: 'openThread', threadId: 't-1' }]);
    await webview.say({ type: 'connection', connection: { state: 'starting' } }, { type: 'connection', connection: { state: 'running' } }, snapshot({ loaded: false }), snapshot());
    expect(webview.sent('openThread')).toEqual([
      { type: 'openThread', threadId: 't-1' },
      { type: 'openThread', threadId: 't-1' },
    ]);
  });

  it('a missing update makes it ask for the whole chat', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say({ type: 'update', update: { threadId: 't-1', seq: 10, events: [{ type: 'text', text: 'lost' }] } });
    expect(webview.sent('openThread').at(-1)).toEqual({ type: 'openThread', threadId: 't-1' });
    expect(document.body.textContent).not.toContain('lost');
  });
});

describe('nothing is approved by accident', () => {
  it('a card takes no approval in its first half second, and a denial at once', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    expect(webview.button('Approve').disabled).toBe(true);
    press(webview.find('.card'), 'Enter', { ctrlKey: true });
    expect(webview.sent('answer')).toEqual([]);
    webview.button('Deny').click();
    expect(webview.sent('answer')).toEqual([{ type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'reject_once' }]);
  });

  it('after that it takes one approval, with its digest', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve').click();
    webview.button('Approve').click();
    expect(webview.sent('answer')).toEqual([{ type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'allow_once' }]);
  });

  it('a card whose bytes changed waits again', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    await webview.say({ type: 'approvalRequest', approval: plainCommand({ digest: 'd-other' }) });
    expect(webview.button('Approve').disabled).toBe(true);
  });

  it('a window that got the focus back waits again', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    await webview.say({ type: 'windowFocus', focused: false });
    expect(webview.button('Approve').disabled).toBe(true);
    await webview.say({ type: 'windowFocus', focused: true });
    expect(webview.button('Approve').disabled).toBe(true);
    await armed(webview);
    expect(webview.button('Approve').disabled).toBe(false);
  });

  it('Ctrl+Enter in the composer approves nothing', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    const text = webview.find('.composer textarea');
    text.focus();
    press(text, 'Enter', { ctrlKey: true });
    await webview.say({ type: 'act', action: 'approve' });
    expect(webview.sent('answer')).toEqual([]);
  });

  it('the focus does not move to a card that appears, nor to the one after an answered one', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    webview.find('.composer textarea').focus();
    await webview.say({ type: 'approvalRequest', approval: plainCommand() }, { type: 'approvalRequest', approval: fetchApproval() });
    expect(document.activeElement).toBe(webview.find('.composer textarea'));
    webview.button('Deny').focus();
    await webview.say({ type: 'approvalResolved', resolved: { approvalId: 'a-plain', threadId: 't-1', state: 'denied', by: 'user' } });
    expect(webview.find('[data-testid="approval-card"]').dataset['approvalId']).toBe('a-fetch');
    expect(webview.find('.card').contains(document.activeElement)).toBe(false);
    expect(document.activeElement).toBe(webview.find('[data-testid="queue"]'));
  });

  it('a card reached by Next takes Ctrl+Enter, after its half second', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand(), fetchApproval()] }), opened);
    await webview.say({ type: 'act', action: 'next' });
    await webview.settle();
    press(document.activeElement!, 'Enter', { ctrlKey: true });
    expect(webview.sent('answer')).toEqual([]);
    await armed(webview);
    press(document.activeElement!, 'Enter', { ctrlKey: true });
    expect(webview.sent('answer')).toEqual([{ type: 'answer', approvalId: 'a-fetch', digest: 'd-fetch', optionId: 'allow_once' }]);
  });

  it('Alt+Down goes through the queue and Ctrl+Alt+Enter denies, from the composer too', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand(), fetchApproval()] }), opened);
    press(webview.find('.composer textarea'), 'ArrowDown', { altKey: true });
    await webview.settle();
    expect(webview.find('[data-testid="approval-card"]').dataset['approvalId']).toBe('a-fetch');
    press(webview.find('.composer textarea'), 'Enter', { ctrlKey: true, altKey: true });
    expect(webview.sent('answer').map((answer) => `${answer.approvalId} ${answer.optionId}`)).toEqual(['a-fetch reject_once']);
  });

  it('Escape closes a menu and decides nothing', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve options').click();
    await webview.settle();
    const before = webview.posted.length;
    press(document.activeElement!, 'Escape');
    await webview.settle();
    expect(document.querySelector('[role="menu"]')).toBeNull();
    expect(webview.posted.length).toBe(before);
    expect(document.activeElement).toBe(webview.button('Approve options'));
  });

  it('a folded middle keeps Approve off until it was opened', async () => {
    const newText = Array.from({ length: 2000 }, (_, index) => `line ${index}`).join('\n');
    const webview = await fakeWebview(snapshot({ approvals: [diffApproval({ preview: { kind: 'diff', path: '/home/me/proj/a.txt', operation: 'create', newText } })] }), opened);
    await armed(webview);
    expect(webview.button('Approve').disabled).toBe(true);
    webview.find('.unfold').click();
    await webview.settle();
    expect(webview.button('Approve').disabled).toBe(false);
    expect(webview.find('.diff').textContent).toContain('line 1000');
  });

  it('risky requests are not ticked in the review, and what is not ticked is not answered', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [commandApproval(), plainCommand()] }), opened, { type: 'show', page: 'review' });
    await armed(webview);
    webview.button('Approve 1 selected').click();
    expect(webview.sent('batch')).toEqual([{ type: 'batch', cards: [{ approvalId: 'a-plain', digest: 'd-plain' }], decision: 'allow_once' }]);
  });
});

describe('a card says what will happen and offers what the gate offered', () => {
  const heads: [string, ReturnType<typeof plainCommand>][] = [
    ['Run shell command?', plainCommand()],
    ['Edit src/parse.py?', diffApproval()],
    ['Fetch docs.python.org?', fetchApproval()],
    ['Use create_issue of github?', toolApproval()],
  ];
  it.each(heads)('%s', async (head, approval) => {
    const webview = await fakeWebview(snapshot({ approvals: [approval] }), opened);
    const card = webview.find('[data-testid="approval-card"]');
    expect(document.getElementById(card.getAttribute('aria-labelledby')!)?.textContent).toBe(head);
  });

  it('the menu offers the grants, each rule in full, and bypass last', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve options').click();
    await webview.settle();
    const names = [...document.querySelectorAll('[role="menuitem"]')].map((item) => document.getElementById(item.getAttribute('aria-labelledby')!)!.textContent);
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

  it('hidden characters stand there as escapes', async () => {
    await fakeWebview(snapshot({ approvals: [plainCommand({ preview: { kind: 'command', command: 'echo \u202Eab\u200B\u0007', cwd: '/', parts: [] } })] }), opened);
    expect([...document.querySelectorAll('.code .escape')].map((mark) => mark.textContent)).toEqual(['\\u202e', '\\u200b', '\\x07']);
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
    expect(webview.sent('answer')).toEqual([{ type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'allow_once', editedInput: '{"command":"npm test"}' }]);
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
    expect(webview.sent('answer')).toEqual([{ type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'reject_once', reason: 'use pnpm' }]);
  });

  it('an agent that offers no allow-once gets only Deny', async () => {
    await fakeWebview(snapshot({ approvals: [plainCommand({ options: [{ optionId: 'reject_once', name: 'Deny', kind: 'reject_once' }] })] }), opened);
    expect([...document.querySelectorAll('.card .primary')]).toEqual([]);
    expect(document.body.textContent).toContain('it can only be denied');
  });

  it('an answer that was not taken says why and can be given again', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve').click();
    await webview.say({ type: 'answerFailed', approvalId: 'a-plain', message: 'the settings file has unsaved changes' });
    expect(webview.find('.card [role="alert"]').textContent).toContain('unsaved changes');
    expect(webview.button('Approve').disabled).toBe(false);
  });
});

describe('axe finds nothing', () => {
  const approvals = { command: commandApproval(), diff: diffApproval(), fetch: fetchApproval(), tool: toolApproval() };
  it.each(Object.entries(approvals))('on a card: %s', async (_, approval) => {
    const webview = await fakeWebview(snapshot({ approvals: [approval, plainCommand()] }), opened);
    await armed(webview);
    expect(await violations()).toEqual([]);
    webview.button('Approve options').click();
    await webview.settle();
    expect(await violations()).toEqual([]);
  });
  it.each(['chat', 'history', 'shells', 'rules', 'review'] as const)('on the page: %s', async (page) => {
    await fakeWebview(snapshot({ approvals: [commandApproval(), plainCommand()] }), opened, { type: 'show', page });
    expect(await violations()).toEqual([]);
  });

  async function violations(): Promise<string[]> {
    vi.useRealTimers();
    document.documentElement.lang = 'en';
    document.title = 'Countersign';
    // Contrast needs a real browser: test/pictures.mjs.
    const { violations } = await axe.run(document, { rules: { 'color-contrast': { enabled: false } } });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}`));
  }
});
