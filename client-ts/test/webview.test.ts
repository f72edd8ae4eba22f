// @vitest-environment jsdom
import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import type * as wire from '../src/wire.gen.ts';
import { ARMING_TIME } from '../webview/arming.ts';
import { type FakeWebview, fakeWebview, keptByEditor, opened, snapshot } from './fakeWebview.ts';
import { commandApproval, diffApproval, fetchApproval, plainCommand, threads, toolApproval } from './fixtures.ts';

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
const press = (target: EventTarget, key: string, more: KeyboardEventInit = {}): boolean =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));

describe('the view is drawn from the state', () => {
  it('streamed text is drawn again as it grows', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say({
      type: 'update',
      update: { threadId: 't-1', seq: 8, events: [{ type: 'text', text: 'Half a sen' }] },
    });
    expect(document.body.textContent).toContain('Half a sen');
    await webview.say({
      type: 'update',
      update: { threadId: 't-1', seq: 9, events: [{ type: 'text', text: 'tence.' }] },
    });
    expect(document.body.textContent).toContain('Half a sentence.');
  });

  it('several messages of one frame are applied together, in order', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say(
      { type: 'approvalRequest', approval: plainCommand() },
      {
        type: 'approvalResolved',
        resolved: { approvalId: 'a-plain', threadId: 't-1', state: 'cancelled', by: 'cancel' },
      },
    );
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
    await webview.say(
      { type: 'connection', connection: { state: 'starting' } },
      { type: 'connection', connection: { state: 'running' } },
      snapshot({ loaded: false }),
      snapshot(),
    );
    expect(webview.sent('openThread')).toEqual([
      { type: 'openThread', threadId: 't-1' },
      { type: 'openThread', threadId: 't-1' },
    ]);
  });

  it('a missing update makes it ask for the whole chat', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say({
      type: 'update',
      update: { threadId: 't-1', seq: 10, events: [{ type: 'text', text: 'lost' }] },
    });
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
    expect(webview.sent('answer')).toEqual([
      { type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'reject_once' },
    ]);
  });

  it('after that it takes one approval, with its digest', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    await armed(webview);
    webview.button('Approve').click();
    webview.button('Approve').click();
    expect(webview.sent('answer')).toEqual([
      { type: 'answer', approvalId: 'a-plain', digest: 'd-plain', optionId: 'allow_once' },
    ]);
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
    await webview.say(
      { type: 'approvalRequest', approval: plainCommand() },
      { type: 'approvalRequest', approval: fetchApproval() },
    );
    expect(document.activeElement).toBe(webview.find('.composer textarea'));
    webview.button('Deny').focus();
    await webview.say({
      type: 'approvalResolved',
      resolved: { approvalId: 'a-plain', threadId: 't-1', state: 'denied', by: 'user' },
    });
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
    expect(webview.sent('answer')).toEqual([
      { type: 'answer', approvalId: 'a-fetch', digest: 'd-fetch', optionId: 'allow_once' },
    ]);
  });

  it('Alt+Down goes through the queue and Ctrl+Alt+Enter denies, from the composer too', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand(), fetchApproval()] }), opened);
    press(webview.find('.composer textarea'), 'ArrowDown', { altKey: true });
    await webview.settle();
    expect(webview.find('[data-testid="approval-card"]').dataset['approvalId']).toBe('a-fetch');
    press(webview.find('.composer textarea'), 'Enter', { ctrlKey: true, altKey: true });
    expect(webview.sent('answer').map((answer) => `${answer.approvalId} ${answer.optionId}`)).toEqual([
      'a-fetch reject_once',
    ]);
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

  const script = (lines: number): wire.ApprovalRequest =>
    plainCommand({
      preview: {
        kind: 'command',
        command: Array.from({ length: lines }, (_, index) =>
          index === 30 ? 'rm -rf ~/projects' : `echo ${index}`,
        ).join('\n'),
        cwd: '/home/me/proj',
        parts: [],
      },
    });

  it('a script is not approved before all of it was in view, by button, key or command; steps by key lead through it and read it out', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [script(400)] }), opened);
    await webview.say({ type: 'act', action: 'focus' });
    await armed(webview);
    const attempts = async (): Promise<void> => {
      webview.button('Approve').click();
      press(webview.find('.card'), 'Enter', { ctrlKey: true });
      await webview.say({ type: 'act', action: 'approve' }, { type: 'act', action: 'allowChat' });
    };
    await attempts();
    expect([
      webview.button('Approve').disabled,
      webview.button('Approve options').disabled,
      webview.button('Deny').disabled,
    ]).toEqual([true, true, false]);
    let steps = 0;
    const heard: string[] = [];
    while (document.querySelector('[data-testid="unseen"][data-rows="0"]') === null && steps++ < 200) {
      await attempts();
      expect(webview.sent('answer')).toEqual([]);
      press(webview.find('.card'), 'PageDown');
      await webview.settle();
      heard.push(webview.find('.strip [role="status"]').textContent);
    }
    expect(steps).toBeGreaterThan(5);
    expect(heard.join('\n')).toContain('echo 399');
    window.dispatchEvent(new KeyboardEvent('keyup'));
    vi.advanceTimersByTime(1);
    webview.button('Approve').click();
    expect(webview.sent('answer')).toHaveLength(1);
  });

  it('Enter on "Approve options" never gets to bypass: the menu opens on what is no danger, or on nothing', async () => {
    const bare = plainCommand({
      options: plainCommand().options.filter(({ kind }) => kind === 'allow_once' || kind === 'reject_once'),
    });
    for (const approval of [plainCommand(), bare]) {
      const webview = await fakeWebview(snapshot({ approvals: [approval] }), opened);
      await armed(webview);
      webview.button('Approve options').click();
      await webview.settle();
      for (let times = 0; times < 2; times++) {
        press(document.activeElement!, 'Enter');
        await webview.settle();
      }
      expect(webview.sent('bypass')).toEqual([]);
    }
  });

  it('"Not now" folds the card, decides nothing, and it comes back by a click', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [commandApproval(), plainCommand()] }), opened);
    webview.button('Not now').click();
    expect(webview.sent('postpone')).toEqual([{ type: 'postpone', approvalId: 'a-command', postponed: true }]);
    await webview.say({ type: 'postponed', approvalId: 'a-command', postponed: true });
    expect(webview.find('[data-testid="approval-card"]').dataset['approvalId']).toBe('a-plain');
    expect(webview.find('.queue-head').textContent).toContain('2 waiting, 1 put off');
    webview.button('Not now').click();
    await webview.say({ type: 'postponed', approvalId: 'a-plain', postponed: true });
    expect(document.querySelector('[data-testid="approval-card"]')).toBeNull();
    expect(webview.posted.filter(({ type }) => type === 'answer' || type === 'batch')).toEqual([]);
    await webview.say({ type: 'act', action: 'focus' });
    expect(document.querySelectorAll('[data-testid="review-row"]')).toHaveLength(2);
    webview.bridge.dispatch({ type: 'page', page: 'chat' });
    await webview.say({
      type: 'postponed',
      approvalId: 'a-command',
      postponed: false,
      expiresAt: '2026-11-20T11:00:00Z',
    });
    expect(webview.find('[data-testid="approval-card"]').dataset).toMatchObject({
      approvalId: 'a-command',
      state: 'arming',
    });
  });

  it('a jump to the end leaves the middle unseen', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [script(300)] }), opened);
    await armed(webview);
    const box = webview.find('.card .rows');
    // Chunk after chunk is drawn; nothing is looked at but the end.
    box.scrollTop = 100_000;
    document.dispatchEvent(new Event('scroll'));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await webview.settle();
    expect(Number(webview.find('[data-testid="unseen"]').dataset['rows'])).toBeGreaterThan(200);
    expect(webview.button('Approve').disabled).toBe(true);
  });

  it('what was seen stays seen when the card comes back, and other bytes were not', async () => {
    const approval = plainCommand();
    const webview = await fakeWebview(snapshot({ approvals: [approval, fetchApproval()] }), opened);
    webview.button('Next approval').click();
    await webview.settle();
    webview.button('Previous approval').click();
    await webview.settle();
    await armed(webview);
    expect(webview.button('Approve').disabled).toBe(false);
    await webview.say({
      type: 'approvalRequest',
      approval: { ...script(300), approvalId: approval.approvalId, digest: 'd-other' },
    });
    await armed(webview);
    expect(webview.button('Approve').disabled).toBe(true);
  });

  it('a press that began before the card was armed does not count when it ends after', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    const held = (type: string): boolean => window.dispatchEvent(new Event(type));
    held('pointerdown');
    await armed(webview);
    webview.button('Approve').click();
    expect(webview.sent('answer')).toEqual([]);
    held('pointerup');
    vi.advanceTimersByTime(1);
    held('pointerdown');
    webview.button('Approve').click();
    expect(webview.sent('answer')).toHaveLength(1);
  });

  it('Review all approves no script that was not in view', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [script(300)] }), opened, { type: 'show', page: 'review' });
    await armed(webview);
    expect(webview.button('Approve 1 selected').disabled).toBe(true);
    for (let step = 0; step < 20; step++) {
      webview.button('Show the next lines').click();
      await webview.settle();
      if (document.querySelector('[data-rows="0"]')) break;
    }
    await webview.settle();
    webview.button('Approve 1 selected').click();
    expect(webview.sent('batch')).toHaveLength(1);
  });

  it('risky requests are not ticked in the review, and what is not ticked is not answered', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [commandApproval(), plainCommand()] }), opened, {
      type: 'show',
      page: 'review',
    });
    await armed(webview);
    webview.button('Approve 1 selected').click();
    expect(webview.sent('batch')).toEqual([
      { type: 'batch', cards: [{ approvalId: 'a-plain', digest: 'd-plain' }], decision: 'allow_once' },
    ]);
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

describe('what was decided without an answer is said where it is seen', () => {
  const ended = (approvalId: string, more: object): ToWebview => ({
    type: 'approvalResolved',
    resolved: { approvalId, threadId: 't-1', state: 'allowed', by: 'rule', ...more },
  });
  const notes = (): string[] =>
    [...document.querySelectorAll('.note > span:not(.codicon)')].map((note) => note.textContent);

  it.each([
    [
      'a rule',
      { by: 'rule', reason: 'an allow rule covers it: `Bash(npm:*)` (settings.json:4)' },
      'Countersign: npm run test -- --watch=false · allowed by a rule · an allow rule covers it: Bash(npm:*) (settings.json:4)',
    ],
    [
      'a grant',
      { by: 'grant', reason: 'you allowed it for this chat' },
      'Countersign: npm run test -- --watch=false · allowed by your earlier answer · you allowed it for this chat',
    ],
    [
      'a mode',
      { state: 'denied', by: 'mode', reason: 'plan mode only reads' },
      'Countersign: npm run test -- --watch=false · denied by the mode · plan mode only reads',
    ],
    ['bypass', { by: 'bypass' }, 'Countersign: npm run test -- --watch=false · allowed by bypass'],
    [
      'time',
      { state: 'expired', by: 'timeout', reason: 'nobody answered in time' },
      'Countersign: npm run test -- --watch=false · timed out · nobody answered in time',
    ],
    [
      'a change',
      { state: 'interrupted', by: 'change' },
      'Countersign: npm run test -- --watch=false · withdrawn, because it changed',
    ],
  ])('by %s', async (_, more, note) => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened, ended('a-plain', more));
    expect(notes()).toEqual([note]);
    expect(webview.find('[role="status"]').textContent).toContain('Run shell command?');
  });

  it('several stand in one note, which leads to the history', async () => {
    const webview = await fakeWebview(
      snapshot({ approvals: [plainCommand(), fetchApproval()] }),
      opened,
      ended('a-plain', {}),
      ended('a-fetch', {}),
    );
    expect(notes()).toHaveLength(1);
    expect(notes()[0]!.split('\n')).toHaveLength(2);
    webview.button('Approval history').click();
    await webview.settle();
    expect(webview.sent('history')).toHaveLength(1);
  });

  it('the person’s own answer and a stopped turn leave none', async () => {
    await fakeWebview(
      snapshot({ approvals: [plainCommand(), fetchApproval()] }),
      opened,
      ended('a-plain', { by: 'user' }),
      ended('a-fetch', { state: 'cancelled', by: 'cancel' }),
    );
    expect(notes()).toEqual([]);
  });
});

describe('what an answer left behind can be taken back from its card', () => {
  const kept: ToWebview = {
    type: 'kept',
    toolCallId: 'c-e',
    kept: { list: 'allow', rule: 'Edit(./src/parse.py)', scope: 'workspace' },
  };

  it('by one press, which names scope and rule', async () => {
    const webview = await fakeWebview(snapshot(), opened, kept);
    expect(webview.find('[data-testid="kept"]').textContent.replaceAll(/\s+/g, ' ')).toContain(
      'Always allowed in this workspace: Edit(./src/parse.py)',
    );
    webview.button('Take back Edit(./src/parse.py)').click();
    expect(webview.sent('takeBack')).toEqual([{ type: 'takeBack', toolCallId: 'c-e' }]);
    await webview.say({ type: 'kept', toolCallId: 'c-e' });
    expect(document.querySelector('[data-testid="kept"]')).toBeNull();
    expect(document.body.textContent).toContain('The rule from this answer was taken back.');
  });

  it('while the call still runs', async () => {
    const webview = await fakeWebview(snapshot(), opened, {
      type: 'kept',
      toolCallId: 'c-1',
      kept: { list: 'allow', rule: 'Bash(pytest:*)', scope: 'timed' },
    });
    expect(webview.find('[data-testid="kept"]').textContent).toContain('Allowed for 15 minutes:');
  });

  it('after the window was loaded again, once the row is opened', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    webview.find('[data-tool-call-id="c-e"] .decided-line').click();
    await webview.settle();
    const row = {
      receiptId: 'r-1',
      seq: 1,
      at: '2026-11-20T09:00:00Z',
      threadId: 't-1',
      agentName: 'Countersign',
      toolCallId: 'c-e',
      tool: 'edit_file',
      evidence: [],
      digest: 'd',
    };
    await webview.say({
      type: 'history',
      of: 'c-e',
      more: false,
      entries: [
        {
          ...row,
          phase: 'decided',
          verdict: 'allow',
          by: 'user',
          outcome: { state: 'allowed', note: 'kept Edit(./src/parse.py) (user)' },
        },
      ],
    });
    expect(webview.find('[data-testid="kept"]').textContent).toContain('Always allowed everywhere:');
  });

  it('a change that was taken back says so and offers it no more', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    webview.find('[data-tool-call-id="c-e"] .decided-line').click();
    await webview.settle();
    webview.button('Undo this change').click();
    expect(webview.sent('undo')).toEqual([{ type: 'undo', receiptId: 'r-1' }]);
    await webview.say({ type: 'undone', receiptId: 'r-1' });
    expect(webview.find('[data-tool-call-id="c-e"]').textContent).toContain('This change was taken back.');
    expect(() => webview.button('Undo this change')).toThrow();
  });
});

describe('history takes back what can be taken back', () => {
  const row = {
    receiptId: 'r-9',
    seq: 1,
    at: '2026-11-20T09:00:00Z',
    threadId: 't-1',
    agentName: 'Countersign',
    toolCallId: 'c-9',
    tool: 'write_file',
    input: { path: 'a.md' },
    evidence: [],
    digest: 'd',
  };
  const page = (more: Partial<wire.HistoryEntry>): ToWebview => ({
    type: 'history',
    more: false,
    entries: [{ ...row, phase: 'finished', ...more }],
  });

  it.each<[string, Partial<wire.HistoryEntry>, boolean]>([
    ['a change that was made', { outcome: { ended: 'done' } }, true],
    ['a change that failed', { outcome: { ended: 'failed' } }, false],
    ['a change that was only decided', { phase: 'decided', outcome: undefined }, false],
    ['a command', { tool: 'shell', outcome: { ended: 'done' } }, false],
  ])('%s', async (_, more, offered) => {
    const webview = await fakeWebview(snapshot(), { type: 'show', page: 'history' }, page(more));
    webview.find('[data-testid="history-row"] .decided-line').click();
    await webview.settle();
    expect(
      [...document.querySelectorAll('button')].some((button) => button.textContent.includes('Undo this change')),
    ).toBe(offered);
  });

  it('says afterwards that it was', async () => {
    const webview = await fakeWebview(
      snapshot(),
      { type: 'show', page: 'history' },
      page({ outcome: { ended: 'done' } }),
    );
    webview.find('[data-testid="history-row"] .decided-line').click();
    await webview.settle();
    webview.button('Undo this change').click();
    expect(webview.sent('undo')).toEqual([{ type: 'undo', receiptId: 'r-9' }]);
    await webview.say({ type: 'undone', receiptId: 'r-9' });
    expect(webview.find('[data-testid="history-row"]').textContent).toContain('This change was taken back.');
  });
});

describe('history says when the ledger is damaged', () => {
  const show: ToWebview = { type: 'show', page: 'history' };
  const empty: ToWebview = { type: 'history', more: false, entries: [] };
  const told = (status: Partial<wire.LedgerStatus>): ToWebview => ({
    type: 'ledger',
    status: { state: 'broken', rows: 9, head: 'h9', ...status },
  });
  const banner = (): HTMLElement | null => document.querySelector('[data-testid="ledger-banner"]');

  it.each<[string, Partial<wire.LedgerStatus>, RegExp | undefined, boolean]>([
    [
      'broken at a row',
      { brokenAt: 3, reason: 'row 3 was changed' },
      /only reads that need no approval run\. The chain is broken at row 3\. row 3 was changed/,
      true,
    ],
    ['broken in no single row', { reason: 'rows were taken off the end' }, /run\. rows were taken off the end/, true],
    ['broken, with a hidden character in the reason', { reason: 'row \u202e3' }, /run\. row \\u202e3/, true],
    [
      'gone',
      { state: 'none', reason: 'the storage folder cannot be written' },
      /nothing runs\. the storage folder cannot be written/,
      false,
    ],
    ['being checked', { state: 'checking' }, undefined, false],
    ['whole', { state: 'whole' }, undefined, false],
  ])('%s', async (_, status, expected, button) => {
    const webview = await fakeWebview(snapshot(), show, empty, told(status));
    const text = banner()?.textContent.replaceAll(/\s+/g, ' ');
    if (expected === undefined) expect(text).toBeUndefined();
    else expect(text).toMatch(expected);
    expect([...document.querySelectorAll('button')].some((one) => one.textContent === 'Begin a New Chain…')).toBe(
      button,
    );
    if (!button) return;
    webview.button('Begin a New Chain…').click();
    expect(webview.sent('newLedgerChain')).toEqual([{ type: 'newLedgerChain' }]);
    expect(banner(), 'a press alone repairs nothing').not.toBeNull();
  });

  it('and once a new chain was begun, shows it', async () => {
    const webview = await fakeWebview(snapshot(), show, empty, told({ brokenAt: 3 }));
    const before = webview.sent('history').length;
    await webview.say(told({ state: 'checking' }));
    await webview.say(told({ state: 'whole' }));
    expect([banner(), webview.sent('history').length]).toEqual([null, before + 1]);
  });

  it('and does not repeat what a stopped server said', async () => {
    const webview = await fakeWebview(snapshot(), show, empty, told({ brokenAt: 3 }));
    await webview.say({ type: 'connection', connection: { state: 'stopped' } });
    expect(banner()).toBeNull();
  });
});

describe('rules and grants are listed with what they do', () => {
  const rule: wire.RuleView = {
    ruleId: 'r',
    list: 'allow',
    rule: 'Bash(ls:*)',
    scope: 'user',
    file: '/home/me/proj/.vscode/settings.json',
    line: 4,
    hits: 0,
  };
  const listed = (rules: wire.RuleView[], grants: wire.GrantView[] = []): ToWebview => ({
    type: 'rules',
    rules,
    grants,
    calls: 1200,
    since: '2026-10-30',
  });
  const show: ToWebview = { type: 'show', page: 'rules' };
  const facts = (selector: string): string => document.querySelector(selector)!.textContent.replaceAll(/\s+/g, ' ');

  it.each<[string, Partial<wire.RuleView>, RegExp]>([
    ['how often and when last', { hits: 3, lastUsed: '2026-11-20T09:00:00Z' }, /used 3 times · last used .*:/],
    ['never', {}, /never used · \.vscode\/settings\.json:4/],
    [
      'nothing for long, and what that rests on',
      { idle: { days: 21, calls: 432 } },
      /decided nothing in the 21 days that it is known here, over 432 calls/,
    ],
    [
      'a stricter rule covers it',
      { problem: '`Bash(ls:*)` never counts: the deny rule `Bash` covers all of it' },
      /Bash\(ls:\*\) never counts: the deny rule Bash covers all of it/,
    ],
  ])('a rule says %s', async (_, more, expected) => {
    await fakeWebview(snapshot(), show, listed([{ ...rule, ...more }]));
    expect(facts('[data-testid="rule-row"]')).toMatch(expected);
    expect(facts('.page')).toContain('The figures are of 1200 calls since');
  });

  it('a page of rules asks for the list and for proposals, and for the list again when a turn ends', async () => {
    const webview = await fakeWebview(snapshot(), show);
    await webview.say({ type: 'turnEnded', threadId: 't-1' });
    expect([webview.sent('rules').length, webview.sent('proposals').length]).toEqual([2, 1]);
  });

  it('a proposal says what it would have spared, and is added for the scope on its button', async () => {
    const proposal: wire.RuleProposal = {
      rule: 'Bash(make:*)',
      scopes: ['workspace', 'user'],
      spared: 7,
      since: '2026-11-03T08:00:00Z',
      last: '2026-11-20T09:15:00Z',
      examples: ['make test', 'make \u202Elint'],
      agents: ['Countersign'],
    };
    const webview = await fakeWebview(snapshot(), show, listed([]), {
      type: 'proposals',
      found: { proposals: [proposal], looked: 120, most: 1000, unjudged: 4, since: '2026-10-30T07:00:00Z' },
    });
    expect(facts('[data-testid="proposal-row"]')).toMatch(
      /Bash\(make:\*\).*spared you 7 questions since.*begins with “make”.*make test.*make \\u202elint/,
    );
    expect(facts('.page')).toMatch(/From your last 120 answers.*4 could not be judged again/);
    expect(webview.sent('proposalAdd')).toEqual([]);
    webview.button('Allow in this workspace: Bash(make:*)').click();
    webview.button('Allow everywhere: Bash(make:*)').click();
    expect(webview.sent('proposalAdd').map(({ rule: text, scope }) => [text, scope])).toEqual([
      ['Bash(make:*)', 'workspace'],
      ['Bash(make:*)', 'user'],
    ]);
  });

  it('an untrusted workspace offers a proposal for everywhere only', async () => {
    const proposal: wire.RuleProposal = {
      rule: 'Bash(make:*)',
      scopes: ['user'],
      spared: 3,
      since: 's',
      last: 'l',
      examples: [],
      agents: [],
    };
    await fakeWebview(snapshot(), show, {
      type: 'proposals',
      found: { proposals: [proposal], looked: 3, most: 1000, unjudged: 0 },
    });
    expect(
      [...document.querySelectorAll('[data-testid="proposal-row"] button')].map((button) => button.textContent),
    ).toEqual(['Allow everywhere']);
  });

  it('a grant shows whose it is, where, and how long it still counts, and is revoked by one press', async () => {
    const expiresAt = new Date(Date.now() + 90_000).toISOString();
    const grant: wire.GrantView = {
      grantId: 'g',
      rule: 'Bash(ls)',
      scope: 'timed',
      agentName: 'Countersign',
      threadId: 't-1',
      expiresAt,
    };
    const webview = await fakeWebview(snapshot(), show, listed([], [grant]));
    const title = threads().find((thread) => thread.threadId === 't-1')!.title;
    expect(facts('[data-testid="grant-row"]')).toContain(`Countersign · 15 minutes · in “${title}” · 2 min left`);
    const wait = async (seconds: number): Promise<void> => {
      vi.setSystemTime(Date.now() + (seconds - 1) * 1000);
      vi.advanceTimersByTime(1000);
      await webview.settle();
    };
    await wait(50);
    expect(facts('[data-testid="grant-row"]')).toContain('40 s left');
    const before = webview.sent('rules').length;
    await wait(40);
    expect(webview.sent('rules').length).toBeGreaterThan(before);
    webview.button('Revoke Bash(ls)').click();
    expect(webview.sent('grantRevoke')).toEqual([{ type: 'grantRevoke', grantId: 'g' }]);
    const asked = webview.sent('rules').length;
    await webview.say(listed([], []));
    vi.advanceTimersByTime(5000);
    expect(webview.sent('rules').length).toBe(asked);
  });
});

it('a denial of several can carry one message, an approval does not', async () => {
  const webview = await fakeWebview(
    snapshot({ approvals: [plainCommand(), { ...fetchApproval(), risks: [] }] }),
    opened,
    { type: 'show', page: 'review' },
  );
  await armed(webview);
  const field = webview.find('.review input.message') as HTMLInputElement;
  field.value = 'use the mirror';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await webview.settle();
  webview.button('Deny 2 selected').click();
  const cards = [
    { approvalId: 'a-plain', digest: 'd-plain' },
    { approvalId: 'a-fetch', digest: 'd-fetch' },
  ];
  expect(webview.sent('batch')).toEqual([{ type: 'batch', cards, decision: 'reject_once', reason: 'use the mirror' }]);
});

it('a server that stopped for good can be started again by a button, which stays', async () => {
  const webview = await fakeWebview(snapshot(), opened, {
    type: 'connection',
    connection: { state: 'stopped', message: 'The server ended five times; it is not started again by itself.' },
  });
  expect(webview.find('.connection[role="alert"]').textContent).toContain('five times');
  webview.button('Restart Server').click();
  expect(webview.sent('restartServer')).toEqual([{ type: 'restartServer' }]);
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

it('while the server is away no button of a card can be pressed, and they come back with it', async () => {
  const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
  await armed(webview);
  const disabled = (): boolean[] =>
    ['Approve', 'Approve options', 'Deny', 'Deny options', 'Not now'].map((name) => webview.button(name).disabled);
  expect(disabled()).toEqual([false, false, false, false, false]);
  await webview.say({ type: 'connection', connection: { state: 'stopped', message: 'the server crashed' } });
  expect(disabled()).toEqual([true, true, true, true, true]);
  press(webview.find('.card'), 'Enter', { ctrlKey: true });
  press(document.body, 'Enter', { ctrlKey: true, altKey: true });
  expect(webview.sent('answer')).toEqual([]);
  expect(document.querySelectorAll('.connection button')).toHaveLength(1);
  await webview.say({ type: 'connection', connection: { state: 'running' } });
  expect(disabled()).toEqual([false, false, false, false, false]);
});

it('what was begun in the composer survives another page, and the webview itself', async () => {
  keptByEditor.state = undefined;
  const type = async (webview: FakeWebview, text: string): Promise<void> => {
    const box = webview.find('.composer textarea') as HTMLTextAreaElement;
    box.value = text;
    box.dispatchEvent(new Event('input'));
    await webview.settle();
  };
  const first = await fakeWebview(snapshot(), opened);
  await type(first, 'half a thought');
  first.bridge.dispatch({ type: 'page', page: 'rules' });
  await first.settle();
  first.bridge.dispatch({ type: 'page', page: 'chat' });
  await first.settle();
  expect((first.find('.composer textarea') as HTMLTextAreaElement).value).toBe('half a thought');
  const second = await fakeWebview(snapshot(), opened);
  expect((second.find('.composer textarea') as HTMLTextAreaElement).value).toBe('half a thought');
  second.button('Send').click();
  await second.settle();
  const third = await fakeWebview(snapshot(), opened);
  expect((third.find('.composer textarea') as HTMLTextAreaElement).value).toBe('');
  keptByEditor.state = undefined;
});

it('a row of a hosted agent says what its card said, and marks the agent\u2019s own words as such', async () => {
  const call = (toolCallId: string, title: string): wire.ToolCallEvent => ({
    type: 'toolCall',
    toolCallId,
    agentName: 'Claude Code',
    tool: 'acp:execute',
    title,
    kind: 'execute',
    category: 'execute',
    rawInput: {},
    status: 'waiting',
  });
  const result = (toolCallId: string): wire.ToolResultEvent => ({
    type: 'toolResult',
    toolCallId,
    tool: 'acp:execute',
    success: true,
    output: '',
    decidedBy: 'user',
    durationMs: 1,
  });
  const events = [call('c-1', 'Tidy up'), call('c-9', 'Look around'), result('c-1'), result('c-9')];
  const webview = await fakeWebview(snapshot({ approvals: [commandApproval()] }), {
    type: 'threadOpened',
    thread: {
      threadId: 't-1',
      agentName: 'Claude Code',
      mode: 'default',
      seq: 1,
      events,
      approvals: [],
      running: false,
    },
  });
  const titles = [...document.querySelectorAll('.call-title')].map((title) =>
    title.innerHTML.replaceAll(/<!--.*?-->/g, ''),
  );
  expect(titles).toEqual(['rm -rf build &amp;&amp; pytest -q', '<q>Look around</q>']);
  expect(webview.posted).toBeDefined();
});

it('from the palette a card is approved that was on the screen before; another one is not, and it says why', async () => {
  const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
  await webview.say({ type: 'act', action: 'approve' });
  expect(webview.find('.note').textContent).toContain('Nothing was approved.');
  await armed(webview);
  // Another card took its place while the palette was open.
  window.dispatchEvent(new Event('blur'));
  await webview.say(snapshot({ approvals: [commandApproval({ approvalId: 'a-new', digest: 'd-new' })] }));
  await armed(webview);
  await webview.say({ type: 'act', action: 'approve' });
  expect(webview.sent('answer')).toEqual([]);
  // The same one stays.
  window.dispatchEvent(new Event('blur'));
  await webview.say({ type: 'act', action: 'approve' });
  expect(webview.sent('answer')).toMatchObject([{ approvalId: 'a-new', digest: 'd-new' }]);
});

it('a table of any size in a message does not stall the view', async () => {
  const wide = `| ${Array.from({ length: 100 }, (_, index) => `c${index}`).join(' | ')} |\n`;
  const text = `before\n\n${wide}${'|-'.repeat(100)}|\n${wide.repeat(1000)}\nafter`;
  const webview = await fakeWebview(snapshot(), {
    type: 'threadOpened',
    thread: {
      threadId: 't-1',
      agentName: 'Countersign',
      mode: 'default',
      seq: 1,
      events: [{ type: 'text', text }],
      approvals: [],
      running: false,
    },
  });
  expect(document.querySelectorAll('.markdown *').length).toBeLessThan(3000);
  expect(webview.find('.markdown').textContent).toContain('before');
  expect(webview.find('.markdown').textContent).toContain('after');
  expect(document.querySelector('.markdown cs-rows')).not.toBeNull();
});
