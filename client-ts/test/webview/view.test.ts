// @vitest-environment jsdom
/** The chat view as it is drawn from the state. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Suggestion } from '../../src/suggestions.ts';
import type * as wire from '../../src/wire.gen.ts';
import { type FakeWebview, fakeWebview, opened, openedWith, snapshot } from '../fakeWebview.ts';
import { commandApproval, plainCommand } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

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

it('a server that stopped for good can be started again by a button, which stays', async () => {
  const webview = await fakeWebview(snapshot(), opened, {
    type: 'connection',
    connection: { state: 'stopped', message: 'The server ended five times; it is not started again by itself.' },
  });
  expect(webview.find('.connection[role="alert"]').textContent).toContain('five times');
  webview.button('Restart Server').click();
  expect(webview.sent('restartServer')).toEqual([{ type: 'restartServer' }]);
});

it('what was begun in the composer survives another page, and the webview itself', async () => {
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
  const webview = await fakeWebview(
    snapshot({ approvals: [commandApproval()] }),
    openedWith(events, { agentName: 'Claude Code' }),
  );
  const titles = [...document.querySelectorAll('.call-title')].map((title) =>
    title.innerHTML.replaceAll(/<!--.*?-->/g, ''),
  );
  expect(titles).toEqual(['rm -rf build &amp;&amp; pytest -q', '<q>Look around</q>']);
  expect(webview.posted).toBeDefined();
});

it('a table of any size in a message does not stall the view', async () => {
  const wide = `| ${Array.from({ length: 100 }, (_, index) => `c${index}`).join(' | ')} |\n`;
  const text = `before\n\n${wide}${'|-'.repeat(100)}|\n${wide.repeat(1000)}\nafter`;
  const webview = await fakeWebview(snapshot(), openedWith([{ type: 'text', text }]));
  expect(document.querySelectorAll('.markdown *').length).toBeLessThan(3000);
  expect(webview.find('.markdown').textContent).toContain('before');
  expect(webview.find('.markdown').textContent).toContain('after');
  expect(document.querySelector('.markdown cs-rows')).not.toBeNull();
});

it('a card that is being answered keeps the focus of its button, and the text box has it afterwards', async () => {
  const webview = await fakeWebview(snapshot({ approvals: [plainCommand()] }), opened);
  webview.button('Deny').focus();
  webview.button('Deny').click();
  await webview.settle();
  expect(document.activeElement?.matches('.card')).toBe(true);
  const resolved = { approvalId: 'a-plain', threadId: 't-1', state: 'denied', by: 'user' } as const;
  await webview.say({ type: 'approvalResolved', resolved });
  expect(document.activeElement?.matches('.composer textarea')).toBe(true);
});

it('an empty chat suggests what the agent at hand understands, and says once that the demo is one', async () => {
  const labels = (): string[] =>
    [...document.querySelectorAll('.suggestions button')].map((button) => button.textContent);
  const webview = await fakeWebview(snapshot({ threads: [] }));
  expect(labels()).toEqual(['list .', 'search for TODO', 'create hello.txt saying hi']);
  expect(document.querySelectorAll('[data-testid="demo"]')).toHaveLength(1);
  webview.button('Add agent…').click();
  expect(webview.sent('agentAdd')).toHaveLength(1);
  webview.button('list .').click();
  await webview.settle();
  expect((webview.find('.composer textarea') as HTMLTextAreaElement).value).toBe('list .');
  expect(webview.sent('prompt')).toEqual([]);
  const suggestions: Suggestion[] = [{ kind: 'readme', file: 'README.md' }, { kind: 'tests' }, { kind: 'todo' }];
  await webview.say(snapshot({ threads: [], suggestions }));
  expect(labels()).toEqual(['list .', 'read README.md', 'create hello.txt saying hi']);
  await webview.say(snapshot({ threads: [], modelOf: { Countersign: 'local' }, suggestions }));
  expect(document.querySelector('[data-testid="demo"]')).toBeNull();
  expect(labels()).toEqual([
    'Compare README.md with what the code does',
    'Run the tests and say what fails',
    'Find TODO comments and sort them by effort',
  ]);
});
