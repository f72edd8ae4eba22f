// @vitest-environment jsdom
/** The page of the approval history. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ToWebview } from '../../src/messages.ts';
import type * as wire from '../../src/wire.gen.ts';
import { type FakeWebview, fakeWebview, snapshot } from '../fakeWebview.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
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
  const created = { ended: 'done', operation: 'create', path: '/w/a.md', sha256Before: null, sha256After: 'h2' };
  const edited = { ...created, operation: 'edit', sha256Before: 'h1' };
  const page = (more: Partial<wire.HistoryEntry>, ...newer: wire.HistoryEntry[]): ToWebview => ({
    type: 'history',
    entries: [...newer, { ...row, phase: 'finished', ...more }],
  });
  beforeEach(() => void vi.setSystemTime('2026-11-20T10:00:00Z'));

  it.each<[string, Partial<wire.HistoryEntry>, boolean]>([
    ['a change that was made', { outcome: created }, true],
    ['a change of a hosted agent', { tool: 'acp:edit', outcome: edited }, true],
    ['a file that was moved', { tool: 'move_file', outcome: { ...edited, operation: 'move', to: '/w/b.md' } }, true],
    ['a change that failed', { outcome: { ...created, ended: 'failed' } }, false],
    ['a change that was only decided', { phase: 'decided', outcome: undefined }, false],
    ['a command', { tool: 'shell', outcome: { ended: 'done' } }, false],
    ['a call of a hosted agent that changed no file', { tool: 'acp:edit', outcome: { ended: 'done' } }, false],
    ['what was itself an undo', { tool: 'undo', outcome: { ...edited, operation: 'undo', of: 'r-8' } }, false],
    ['a file whose content was not kept', { tool: 'acp:edit', outcome: { ...edited, beforeKept: false } }, false],
    ['an edit of more than a week ago', { at: '2026-11-12T09:00:00Z', outcome: edited }, false],
    ['a new file of more than a week ago', { at: '2026-11-12T09:00:00Z', outcome: created }, true],
  ])('%s', async (_, more, offered) => {
    const webview = await fakeWebview(snapshot(), { type: 'show', page: 'history' }, page(more));
    webview.find('[data-testid="history-row"] .decided-line').click();
    await webview.settle();
    expect(
      [...document.querySelectorAll('button')].some((button) => button.textContent.includes('Undo this change')),
    ).toBe(offered);
  });

  it('says afterwards that it was', async () => {
    const webview = await fakeWebview(snapshot(), { type: 'show', page: 'history' }, page({ outcome: edited }));
    webview.find('[data-testid="history-row"] .decided-line').click();
    await webview.settle();
    webview.button('Undo this change').click();
    expect(webview.sent('undo')).toEqual([{ type: 'undo', receiptId: 'r-9' }]);
    await webview.say({ type: 'undone', receiptId: 'r-9' });
    expect(webview.find('[data-testid="history-row"]').textContent).toContain('This change was taken back.');
  });

  it('knows of one that was taken back before this window opened', async () => {
    const outcome = { ended: 'done', operation: 'undo', path: '/w/a.md', of: 'r-9' };
    const undo: wire.HistoryEntry = { ...row, receiptId: 'r-10', seq: 2, phase: 'finished', tool: 'undo', outcome };
    const webview = await fakeWebview(snapshot(), { type: 'show', page: 'history' }, page({ outcome: edited }, undo));
    for (const line of document.querySelectorAll<HTMLElement>('[data-testid="history-row"] .decided-line'))
      line.click();
    await webview.settle();
    expect(document.body.textContent).toContain('This change was taken back.');
    expect(() => webview.button('Undo this change')).toThrow();
  });
});

describe('history says when the ledger is damaged', () => {
  const show: ToWebview = { type: 'show', page: 'history' };
  const empty: ToWebview = { type: 'history', entries: [] };
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

describe('history is narrowed by agent, verdict and time', () => {
  const choose = async (webview: FakeWebview, label: string, option: string): Promise<void> => {
    webview.find(`.filters [role="combobox"][aria-label="${label}"]`).click();
    await webview.settle();
    [...document.querySelectorAll<HTMLElement>('.filters [role="option"]')]
      .find((one) => one.textContent.trim() === option)!
      .click();
    await webview.settle();
  };

  it('all together, and on the next page too', async () => {
    vi.setSystemTime('2026-11-20T10:00:00Z');
    const webview = await fakeWebview(snapshot(), { type: 'show', page: 'history' });
    await choose(webview, 'Agent of the calls', 'Claude Code');
    await choose(webview, 'Verdict', 'Denied');
    await choose(webview, 'Time', 'Last hour');
    const wanted = { agentName: 'Claude Code', verdict: 'deny', since: '2026-11-20T09:00:00.000Z' };
    expect(webview.sent('history').at(-1)).toEqual({ type: 'history', ...wanted });
    await webview.say({ type: 'history', cursor: '7', entries: [] });
    webview.button('Show earlier ones').click();
    expect(webview.sent('history').at(-1)).toEqual({ type: 'history', cursor: '7', ...wanted });
    await choose(webview, 'Agent of the calls', 'All agents');
    expect(webview.sent('history').at(-1)).not.toHaveProperty('agentName');
  });

  it('says in words what a call was given, why it ran and how it ended, and keeps the names behind a press', async () => {
    const webview = await fakeWebview(
      snapshot(),
      { type: 'show', page: 'history' },
      {
        type: 'history',
        entries: [
          {
            receiptId: 'r',
            seq: 1,
            at: '2026-11-20T09:00:00Z',
            phase: 'finished',
            threadId: 't-1',
            agentName: 'Countersign',
            toolCallId: 'c',
            tool: 'edit_file',
            input: { path: 'a.md', edits: [{ old_text: 'x\u202E', new_text: 'y' }] },
            evidence: [
              { source: 'floor', reason: 'it is protected' },
              { source: 'rule', reason: 'a rule covers it' },
            ],
            digest: 'd',
            outcome: { ended: 'done', operation: 'edit', path: '/home/me/proj/a.md' },
          },
        ],
      },
    );
    webview.find('.decided-line').click();
    await webview.settle();
    const lists = [...document.querySelectorAll('.facts-list')].map((list) =>
      [...list.children].map((one) => one.textContent),
    );
    expect(lists[0]).toEqual([
      'File',
      'a.md',
      'Replacement 1, Text before',
      'x\\u202e',
      'Replacement 1, Text after',
      'y',
    ]);
    expect(lists[1]).toEqual(
      expect.arrayContaining(['Tool', 'Edit a file', 'Ended', 'done', 'Kind of change', 'edited', 'File', 'a.md']),
    );
    expect([...document.querySelectorAll('.effects .effect-kind')].map((kind) => kind.textContent)).toEqual([
      'Safety floor:',
      '',
    ]);
    const body = webview.find('.decided-body');
    const raw = webview.find('details.raw');
    expect(raw.textContent).toContain('"old_text"');
    raw.remove();
    expect(body.textContent).not.toMatch(/edit_file|old_text|floor(?!:)|sha256/);
  });

  it('says in words what was done, and whether the chain holds', async () => {
    const entry = (tool: string, input: object): wire.HistoryEntry => ({
      receiptId: tool,
      seq: 1,
      at: '2026-11-20T09:00:00Z',
      phase: 'decided',
      threadId: 't-1',
      agentName: 'Countersign',
      toolCallId: 'c',
      tool,
      input,
      evidence: [],
      digest: 'd',
    });
    const webview = await fakeWebview(
      snapshot(),
      { type: 'show', page: 'history' },
      { type: 'ledger', status: { state: 'whole', rows: 41, head: 'h' } },
      {
        type: 'history',
        entries: [entry('write_file', { path: 'a.md' }), entry('mcp__github__create_issue', {}), entry('own_tool', {})],
      },
    );
    expect([...document.querySelectorAll('.call-title')].map((title) => title.textContent)).toEqual([
      'Write a file: a.md',
      'create_issue of github',
      'own_tool',
    ]);
    expect(webview.find('[data-testid="chain"]').textContent).toContain('The chain of 41 rows is whole');
  });
});
