// @vitest-environment jsdom
/** Nothing is approved by accident, and nothing unseen. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type * as wire from '../../src/wire.gen.ts';
import { armed, type FakeWebview, fakeWebview, opened, press, snapshot } from '../fakeWebview.ts';
import { commandApproval, diffApproval, fetchApproval, hostApproval, plainCommand } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
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

  it('a host is allowed for the chat by a button that says so', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [hostApproval()] }), opened);
    expect(document.body.textContent).toContain('Allow registry.example for this chat?');
    expect(document.body.textContent).toContain('npm install');
    await armed(webview);
    webview.button('Allow for this chat').click();
    await webview.settle();
    expect(webview.sent('answer')).toMatchObject([{ optionId: 'allow_once', digest: 'd-host' }]);
  });

  it.each<[wire.SandboxPreview, string]>([
    [{ mode: 'commands', network: 'none', hosts: [] }, 'no network'],
    [{ mode: 'commands', network: 'hosts', hosts: [] }, 'reaches only hosts that you allow'],
    [{ mode: 'commands', network: 'hosts', hosts: ['a.example'] }, 'reaches only a.example and hosts that you allow'],
    [{ mode: 'commands', network: 'all', hosts: [] }, 'reaches public hosts'],
  ])('a command says what it reaches from the sandbox: %j', async (sandbox, words) => {
    const approval = plainCommand();
    const preview = { ...(approval.preview as wire.CommandPreview), sandbox };
    await fakeWebview(snapshot({ approvals: [{ ...approval, preview }] }), opened);
    expect(document.body.textContent).toContain(words);
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

  it('an edit that is too large for a card is not approved there, opened in the diff editor or not', async () => {
    const large = diffApproval({ risks: [] });
    const webview = await fakeWebview(
      snapshot({ approvals: [{ ...large, preview: { ...large.preview, tooLarge: true } as wire.DiffPreview }] }),
      opened,
    );
    await webview.say({ type: 'act', action: 'focus' });
    await armed(webview);
    for (const name of ['Open diff', 'Open diff', 'Approve']) {
      webview.button(name).click();
      press(webview.find('.card'), 'PageDown');
      press(webview.find('.card'), 'Enter', { ctrlKey: true });
      await webview.say({ type: 'act', action: 'approve' }, { type: 'act', action: 'allowChat' });
    }
    await webview.say({ type: 'show', page: 'review' });
    await armed(webview);
    webview.find('input[type=checkbox]').click();
    await webview.settle();
    webview.button('Approve 0 selected').click();
    expect(webview.posted.filter(({ type }) => type === 'answer' || type === 'batch')).toEqual([]);
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

it('from the palette no card is denied that took the place of the one on the screen, and it says why', async () => {
  const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
  window.dispatchEvent(new Event('blur'));
  await webview.say(snapshot({ approvals: [commandApproval({ approvalId: 'a-new', digest: 'd-new' })] }));
  await webview.say({ type: 'act', action: 'deny' });
  expect(webview.sent('answer')).toEqual([]);
  expect(webview.find('.note').textContent).toContain('Nothing was denied. This card was not on the screen before');
  // Asked again, it is that card which is meant.
  window.dispatchEvent(new Event('blur'));
  await webview.say({ type: 'act', action: 'deny' });
  expect(webview.sent('answer')).toMatchObject([{ approvalId: 'a-new', digest: 'd-new' }]);
});

it('from the palette the card is denied that stands in a view which never had the focus', async () => {
  const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
  await webview.say({ type: 'act', action: 'deny' });
  expect(webview.sent('answer')).toMatchObject([{ approvalId: 'a-plain' }]);
});

describe('after the last card the focus is where the person was', () => {
  const answered = async (webview: FakeWebview): Promise<void> => {
    await armed(webview);
    press(webview.find('.card'), 'Enter', { ctrlKey: true });
    window.dispatchEvent(new KeyboardEvent('keyup'));
    await webview.say({
      type: 'approvalResolved',
      resolved: { approvalId: 'a-plain', threadId: 't-1', state: 'allowed', by: 'user' },
    });
  };

  it('in the text box', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    press(webview.find('.composer textarea'), 'a');
    await webview.say({ type: 'act', action: 'focus' });
    window.dispatchEvent(new KeyboardEvent('keyup'));
    vi.advanceTimersByTime(1);
    await answered(webview);
    expect(webview.sent('answer')).toHaveLength(1);
    expect(document.activeElement).toBe(webview.find('.composer textarea'));
    expect(webview.sent('focusEditor')).toEqual([]);
  });

  it('in the editor, if the card was asked for from there', async () => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
    window.dispatchEvent(new Event('blur'));
    await webview.say({ type: 'act', action: 'focus' });
    await armed(webview);
    await webview.say({
      type: 'approvalResolved',
      resolved: { approvalId: 'a-plain', threadId: 't-1', state: 'denied', by: 'timeout' },
    });
    expect(webview.sent('focusEditor')).toHaveLength(1);
  });

  it('a card that appears names agent, action and keys', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await webview.say({ type: 'approvalRequest', approval: plainCommand() });
    expect(webview.find('[role="status"]').textContent).toBe(
      'Countersign asks: Run shell command? Control Alt Period goes to the card, Control Alt Enter denies.',
    );
  });
});
