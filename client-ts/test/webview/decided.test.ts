// @vitest-environment jsdom
/** What is said of decisions, and what they left behind. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ToWebview } from '../../src/messages.ts';
import type * as wire from '../../src/wire.gen.ts';
import { outcomeFacts } from '../../webview/receiptWords.ts';
import { fakeWebview, opened, openedWith, snapshot } from '../fakeWebview.ts';
import { fetchApproval, plainCommand } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
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

  const finished = (outcome: Record<string, unknown>): ToWebview => ({
    type: 'history',
    of: 'c-e',
    entries: [
      {
        receiptId: 'r-1',
        seq: 3,
        at: new Date().toISOString(),
        phase: 'finished',
        threadId: 't-1',
        agentName: 'Countersign',
        toolCallId: 'c-e',
        tool: 'edit_file',
        evidence: [],
        digest: 'd',
        outcome: { ended: 'done', operation: 'edit', path: '/w/a', sha256Before: 'h', ...outcome },
      },
    ],
  });

  it('a change that was taken back says so and offers it no more', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    webview.find('[data-tool-call-id="c-e"] .decided-line').click();
    await webview.settle();
    await webview.say(finished({}));
    webview.button('Undo this change').click();
    expect(webview.sent('undo')).toEqual([{ type: 'undo', receiptId: 'r-1' }]);
    await webview.say({ type: 'undone', receiptId: 'r-1' });
    expect(webview.find('[data-tool-call-id="c-e"]').textContent).toContain('This change was taken back.');
    expect(() => webview.button('Undo this change')).toThrow();
  });

  it('a change whose file was not kept as it was before offers no undo', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    webview.find('[data-tool-call-id="c-e"] .decided-line').click();
    await webview.settle();
    expect(() => webview.button('Undo this change'), 'before the history is known').toThrow();
    await webview.say(finished({ beforeKept: false }));
    expect(() => webview.button('Undo this change')).toThrow();
  });
});

describe('what could outlive a command is said below its result', () => {
  const row = async (processTracking?: wire.WeakTracking): Promise<HTMLElement | null> => {
    const [call, result] = shellRow('c-1');
    const webview = await fakeWebview(
      snapshot(),
      openedWith([call, { ...result, ...(processTracking && { processTracking }) }]),
    );
    webview.find('[data-testid="decided-row"] .decided-line').click();
    await webview.settle();
    return document.querySelector<HTMLElement>('[data-testid="process-tracking"]');
  };
  const shellRow = (toolCallId: string): [wire.ToolCallEvent, wire.ToolResultEvent] => [
    {
      type: 'toolCall',
      toolCallId,
      agentName: 'Countersign',
      tool: 'shell',
      title: 'make',
      kind: 'execute',
      category: 'execute',
      rawInput: { command: 'make' },
      status: 'running',
    },
    { type: 'toolResult', toolCallId, tool: 'shell', success: true, output: 'ok', decidedBy: 'rule', durationMs: 9 },
  ];

  it.each([
    ['subReaper', 'a sub-reaper ends its processes, not a control group'],
    ['processGroup', 'there is no control group and no sub-reaper here'],
  ] as const)('%s', async (tracking, words) => {
    expect((await row(tracking))?.textContent).toContain(words);
    expect(outcomeFacts({ processTracking: tracking }, String)[0]?.[1]).toContain(words);
  });

  it('and nothing where a control group or a sandbox ends them', async () => {
    expect(await row()).toBeNull();
    expect(document.querySelector('[data-testid="decided-row"] .decided-body')).not.toBeNull();
  });
});
