/** Several webviews at once: the chat view and chats in editor tabs, each with its own chat, place and answers. */
import { beforeEach, describe, expect, it } from 'vitest';

import { askingView } from '../src/asker.ts';
import { commandTable } from '../src/commands.ts';
import { createTexts } from '../src/editorText.ts';
import type { Intent } from '../src/intents.ts';
import type { ToWebview } from '../src/messages.ts';
import { createPanel, type Panel } from '../src/panel.ts';
import { snapshot } from './fakeWebview.ts';
import { commandApproval, question, threadOf } from './fixtures.ts';

interface Fake {
  heard: ToWebview[];
  say(message: unknown): void;
  close(): void;
  title: string;
  visible: boolean;
  active: boolean;
  revealed: number;
  html(): string;
}

let panel: Panel;
let handled: [string, Intent][];
let kept: Map<string, string | undefined>;
let tabs: Fake[];
const approvals = [
  commandApproval({ approvalId: 'a-1', threadId: 't-1' }),
  commandApproval({ approvalId: 'a-2', threadId: 't-2' }),
];
const all = (): Extract<ToWebview, { type: 'snapshot' }> =>
  snapshot({ approvals, questions: [question({ threadId: 't-2' })] }) as Extract<ToWebview, { type: 'snapshot' }>;

/** A view or a tab of the editor, as much of it as is used. */
function made(): Fake & Record<string, unknown> {
  const listeners: ((message: unknown) => void)[] = [];
  const closing: (() => void)[] = [];
  const heard: ToWebview[] = [];
  const webview = {
    html: '',
    options: {},
    cspSource: 'vscode-resource:',
    asWebviewUri: (uri: unknown) => uri,
    postMessage: async (message: ToWebview) => heard.push(message),
    onDidReceiveMessage: (listener: (message: unknown) => void) => void listeners.push(listener),
  };
  const fake = {
    webview,
    heard,
    title: '',
    visible: true,
    active: false,
    revealed: 0,
    html: () => webview.html,
    reveal: () => void fake.revealed++,
    onDidDispose: (listener: () => void) => void closing.push(listener),
    onDidChangeViewState: () => undefined,
    say: (message: unknown) => listeners.forEach((listener) => listener(message)),
    close: () => closing.forEach((listener) => listener()),
  };
  return fake;
}

const view = (): Fake => {
  const fake = made();
  panel.resolveWebviewView(fake as never, {} as never, {} as never);
  fake.say({ type: 'ready' });
  return fake;
};
const tab = (threadId?: string): Fake => {
  const fake = made();
  tabs.push(fake);
  panel.restoreTab(fake as never, { view: `tab-${String(tabs.length).padStart(16, '0')}`, threadId });
  fake.say({ type: 'ready' });
  return fake;
};
const types = (fake: Fake): string[] => fake.heard.map(({ type }) => type);
const ids = (fake: Fake): string[] =>
  fake.heard.flatMap((message) => (message.type === 'approvalRequest' ? [message.approval.approvalId] : []));

/** A panel over fakes; what its webviews ask for goes to `handle`. */
const panelThat = (handle: (intent: Intent) => void): Panel =>
  createPanel(
    {
      ...createTexts((message) => message),
      language: 'de',
      fileUri: (...parts) => parts.join('/') as never,
      log: { warn: () => undefined },
      openTab: () => {
        const fake = made();
        tabs.push(fake);
        return fake as never;
      },
      keepView: (text, name) => void kept.set(name, text),
    },
    handle,
    all,
  );

beforeEach(() => {
  handled = [];
  kept = new Map();
  tabs = [];
  panel = panelThat((intent) => void handled.push([askingView(), intent]));
});

it('a webview says in which language it is, so that a screen reader speaks it', () => {
  expect(view().html()).toContain('<html lang="de">');
});

it('news reach every webview, an answer only the one that asked', () => {
  const [side, one] = [view(), tab('t-1')];
  panel.post({ type: 'threads', threads: [] });
  expect([types(side), types(one)]).toEqual([['threads'], ['threads']]);

  const answering: (() => void)[] = [];
  panel = panelThat(async () => {
    // As the server's answers come: later.
    await new Promise<void>((resolve) => answering.push(resolve));
    panel.post({ type: 'chatsFound', matches: [] });
  });
  const [second, third] = [view(), tab('t-2')];
  answering.length = 0;
  third.say({ type: 'searchThreads', text: 'x' });
  answering.forEach((go) => go());
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    expect([types(second), types(third)]).toEqual([[], ['chatsFound']]);
  });
});

it('a tab hears of the cards and questions of its own chat, the chat view of all, and both of every end', () => {
  const [side, one, two] = [view(), tab('t-1'), tab('t-2')];
  for (const approval of approvals) panel.post({ type: 'approvalRequest', approval });
  panel.post({ type: 'question', question: question({ threadId: 't-2' }) });
  panel.post({
    type: 'approvalResolved',
    resolved: { approvalId: 'a-1', threadId: 't-1', state: 'allowed', by: 'user' },
  });
  expect([ids(side), ids(one), ids(two)]).toEqual([['a-1', 'a-2'], ['a-1'], ['a-2']]);
  expect([side, one, two].map((fake) => types(fake).includes('question'))).toEqual([true, false, true]);
  expect([side, one, two].map((fake) => types(fake).at(-1))).toEqual(Array(3).fill('approvalResolved'));
});

it('a tab that turns to another chat gets the cards of that one', () => {
  const one = tab('t-1');
  one.say({ type: 'openThread', threadId: 't-2' });
  const told = one.heard.find((message) => message.type === 'snapshot');
  expect(told?.type === 'snapshot' && told.approvals.map(({ approvalId }) => approvalId)).toEqual(['a-2']);
  one.say({ type: 'keep', text: JSON.stringify({ threadId: undefined }) });
  const last = one.heard.findLast((message) => message.type === 'snapshot');
  expect(last?.type === 'snapshot' && last.approvals).toEqual([]);
});

it('a chat that a tab begins is its own from the first card on', () => {
  const one = tab();
  let begin: () => void = () => undefined;
  panel = panelThat(() => begin());
  const two = tab();
  begin = () => panel.post({ type: 'threadOpened', thread: threadOf([], { threadId: 't-2' }) });
  two.say({ type: 'prompt', text: 'go' });
  panel.post({ type: 'approvalRequest', approval: approvals[1]! });
  expect([ids(one), ids(two)]).toEqual([[], ['a-2']]);
});

it('commands of the palette go to the webview that had the focus last, as long as it can be seen', () => {
  const [side, one, two] = [view(), tab('t-1'), tab('t-2')];
  const acted = (): number[] => [side, one, two].map((fake) => types(fake).filter((type) => type === 'act').length);
  panel.postToLast({ type: 'act', action: 'approve' });
  expect(acted()).toEqual([1, 0, 0]);
  two.say({ type: 'focused' });
  panel.postToLast({ type: 'act', action: 'approve' });
  expect(acted()).toEqual([1, 0, 1]);
  two.visible = false;
  panel.postToLast({ type: 'act', action: 'approve' });
  expect(acted()).toEqual([2, 0, 1]);
  one.say({ type: 'focused' });
  one.close();
  panel.postToLast({ type: 'act', action: 'approve' });
  expect(acted()).toEqual([3, 0, 1]);
  expect(handled.some(([, { type }]) => type === 'focused')).toBe(false);
});

it('a command that opens the chat view acts in the tab that had the focus last, if that can be seen', async () => {
  const [side, one] = [view(), tab('t-1')];
  const run: string[] = [];
  const commands = (commandTable as unknown as (...parts: unknown[]) => Record<string, () => Promise<void>>)(
    { t: (text: string) => text, run: (command: string) => void run.push(command) },
    {},
    panel,
    {},
    {},
    {},
    {},
  );
  const names = ['countersign.newChat', 'countersign.nextApproval', 'countersign.previousApproval'];
  const acted = async (): Promise<unknown[]> => {
    for (const fake of [side, one]) fake.heard.length = 0;
    for (const name of names) await commands[name]!();
    return [side, one].map((fake) => fake.heard.map((message) => message.type === 'act' && message.action));
  };
  const all = ['newChat', 'next', 'previous'];
  expect(await acted()).toEqual([all, []]);
  expect(run).toEqual(Array(3).fill('countersign.chat.focus'));
  one.say({ type: 'focused' });
  expect(await acted()).toEqual([[], all]);
  one.visible = false;
  expect(await acted()).toEqual([all, []]);
});

describe('opening a tab', () => {
  it('takes the chat that was on the screen last along, and shows a tab that has it already', () => {
    const side = view();
    side.say({ type: 'openThread', threadId: 't-1' });
    panel.post({ type: 'threads', threads: [{ ...all().threads[0]!, threadId: 't-1', title: 'Fix $(flame) it' }] });
    panel.openInTab();
    const [name, text] = [...kept][0]!;
    expect(JSON.parse(text!)).toMatchObject({ view: name, threadId: 't-1', draft: '' });
    expect(tabs[0]!.html()).toContain(`data-view="${name}"`);
    expect(tabs[0]!.title).not.toBe('New chat');
    side.say({ type: 'focused' });
    panel.openInTab();
    expect([tabs.length, tabs[0]!.revealed]).toEqual([1, 1]);
    side.say({ type: 'openThread', threadId: 't-2' });
    panel.openInTab();
    expect(tabs.length).toBe(2);
    tabs[0]!.close();
    expect(kept.get(name)).toBeUndefined();
  });

  it('each keeps what it is asked to keep under a name of its own, and no forged name is taken', () => {
    const [side, one] = [view(), tab('t-1')];
    side.say({ type: 'keep', text: '{}' });
    one.say({ type: 'keep', text: '{"threadId":"t-1"}' });
    expect(handled.filter(([, { type }]) => type === 'keep').map(([from]) => from)).toEqual([
      'view',
      'tab-0000000000000001',
    ]);
    const forged = made();
    panel.restoreTab(forged as never, { view: 'view"><script>', threadId: 't-1' });
    expect(forged.html()).toMatch(/data-view="tab-[0-9a-f]{16}"/);
  });
});

it('what waits can be seen in the chat view, or in the tab of its chat', () => {
  const one = tab('t-1');
  expect([panel.isVisible('t-1'), panel.isVisible('t-2'), panel.isVisible()]).toEqual([true, false, false]);
  one.visible = false;
  expect(panel.isVisible('t-1')).toBe(false);
  view();
  expect(panel.isVisible('t-2')).toBe(true);
});
