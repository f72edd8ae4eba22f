// @vitest-environment jsdom
/** The page of all chats. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type * as wire from '../../src/wire.gen.ts';
import { type FakeWebview, fakeWebview, press, snapshot } from '../fakeWebview.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const chat = (threadId: string, more: Partial<wire.ThreadSummary> = {}): wire.ThreadSummary => ({
  threadId,
  title: `title of ${threadId}`,
  agentName: 'Claude Code',
  mode: 'default',
  updatedAt: '2026-11-20T10:00:00Z',
  waiting: 0,
  state: 'done',
  ...more,
});
const page = (...threads: wire.ThreadSummary[]): Promise<FakeWebview> =>
  fakeWebview(snapshot({ threads }), { type: 'show', page: 'chats' });
const rows = (): string[] =>
  [...document.querySelectorAll('[data-testid="chat-row"] .facts')].map((row) =>
    row.textContent.replace(/ · [^·]*$/, ''),
  );
const field = async (webview: FakeWebview, selector: string, value: string): Promise<void> => {
  const input = webview.find(selector) as HTMLInputElement;
  input.value = value;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  await webview.settle();
};

it('says what each chat does, over all agents, and asks for the list', async () => {
  const webview = await page(
    chat('a', { state: 'waiting', waiting: 2 }),
    chat('b', { state: 'working', agentName: 'Countersign' }),
    chat('c', { state: 'failed' }),
    chat('d', { state: undefined }),
  );
  expect(rows()).toEqual([
    'Claude Code · 2 wait for you',
    'Countersign · working',
    'Claude Code · failed',
    'Claude Code · new',
  ]);
  expect(webview.sent('threads')).toHaveLength(1);
});

it('opens a chat', async () => {
  const webview = await page(chat('a'), chat('b'));
  document.querySelectorAll<HTMLElement>('.chat-open')[1]!.click();
  await webview.settle();
  expect([webview.bridge.state.page, webview.bridge.state.current]).toEqual(['chat', 'b']);
  expect(webview.sent('openThread').at(-1)).toEqual({ type: 'openThread', threadId: 'b' });
});

it('gives a chat another title; Escape gives it none', async () => {
  const webview = await page(chat('a'));
  webview.button('Rename title of a').click();
  await webview.settle();
  await field(webview, '.chat-title', ' Parser ');
  press(webview.find('.chat-title'), 'Escape');
  await webview.settle();
  expect(webview.sent('renameThread')).toEqual([]);
  webview.button('Rename title of a').click();
  await webview.settle();
  await field(webview, '.chat-title', ' Parser ');
  webview.find('form.chat-row').dispatchEvent(new Event('submit', { cancelable: true }));
  expect(webview.sent('renameThread')).toEqual([{ type: 'renameThread', threadId: 'a', title: 'Parser' }]);
});

it('exports and deletes a chat by asking the extension', async () => {
  const webview = await page(chat('a'));
  webview.button('Export title of a').click();
  webview.button('Delete title of a').click();
  expect([webview.sent('exportThread'), webview.sent('deleteThread')]).toEqual([
    [{ type: 'exportThread', threadId: 'a' }],
    [{ type: 'deleteThread', threadId: 'a' }],
  ]);
});

it('shows what a search found and where, and all of them again when the field is emptied', async () => {
  const webview = await page(chat('a'), chat('b'));
  await field(webview, 'input[type="search"]', 'parser');
  webview.find('form[role="search"]').dispatchEvent(new Event('submit', { cancelable: true }));
  expect(webview.sent('searchThreads')).toEqual([{ type: 'searchThreads', text: 'parser' }]);
  await webview.say({ type: 'chatsFound', matches: [{ threadId: 'b', excerpt: '…the parser fails…' }] });
  expect(document.querySelectorAll('[data-testid="chat-row"]')).toHaveLength(1);
  expect(webview.find('.excerpt').textContent).toBe('…the parser fails…');
  await webview.say({ type: 'chatsFound', matches: [] });
  expect(webview.find('.empty').textContent).toBe('Nothing was found.');
  await field(webview, 'input[type="search"]', '');
  expect(document.querySelectorAll('[data-testid="chat-row"]')).toHaveLength(2);
});

it('a title that would look like something else is drawn as escapes', async () => {
  await page(chat('a', { title: 'safe\u202egpj' }));
  expect(document.querySelector('.call-title')!.textContent).toBe('safe\\u202egpj');
});

it('offers a fork of chats whose agent is known to fork, and its own sessions', async () => {
  const agent = (agentName: string, more: Partial<wire.AgentView> = {}): wire.AgentView => ({
    agentName,
    type: 'acp',
    state: 'idle',
    label: 'gated',
    bypass: false,
    default: false,
    ...more,
  });
  const agents = [
    agent('Claude Code', { forks: true, listsSessions: true }),
    agent('Plain', { forks: false }),
    agent('Never started'),
    agent('Countersign', { type: 'builtin' }),
  ];
  const threads = [
    chat('a'),
    chat('b', { agentName: 'Plain' }),
    chat('c', { agentName: 'Countersign' }),
    chat('d', { state: 'new' }),
    chat('e', { agentName: 'Never started' }),
  ];
  const webview = await fakeWebview(snapshot({ threads, agents }), { type: 'show', page: 'chats' });
  expect(document.querySelectorAll('[aria-label^="Fork "]')).toHaveLength(1);
  webview.button('Fork title of a').click();
  webview.button('Open a session of an agent…').click();
  expect(webview.sent('forkThread')).toEqual([{ type: 'forkThread', threadId: 'a' }]);
  expect(webview.sent('agentSessions')).toEqual([{ type: 'agentSessions' }]);
  await webview.say({ type: 'showChat', threadId: 'b' });
  expect([webview.bridge.state.page, webview.bridge.state.current]).toEqual(['chat', 'b']);
  await fakeWebview(snapshot({ threads, agents: agents.slice(1) }), { type: 'show', page: 'chats' });
  expect(document.querySelector('[aria-label^="Fork "], [aria-label^="Open a session"]')).toBeNull();
});
