import { describe, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import type { HistoryEntry, ThreadEvent } from '../src/wire.gen.ts';
import { isRunning } from '../webview/chat.ts';
import { currentChat, type Event, initialState, reduce, type State } from '../webview/state.ts';
import { agents, fetchApproval, plainCommand, thread, threads } from './fixtures.ts';

const start: Extract<ToWebview, { type: 'snapshot' }> = {
  type: 'snapshot',
  agents: agents(),
  threads: threads(),
  approvals: [],
  queued: {},
  models: [],
  modelOf: {},
  trusted: true,
  mac: false,
  strings: {},
  connection: { state: 'running' },
  loaded: true,
};
const empty: Extract<ToWebview, { type: 'threadOpened' }> = {
  type: 'threadOpened',
  thread: {
    threadId: 't',
    agentName: 'Countersign',
    mode: 'default',
    seq: 0,
    events: [],
    approvals: [],
    running: false,
  },
};
const update = (seq: number, ...events: Extract<ToWebview, { type: 'update' }>['update']['events']): Event => ({
  type: 'update',
  update: { threadId: 't', seq, events },
});
const asked = (approval: ReturnType<typeof plainCommand>): Event => ({ type: 'approvalRequest', approval });
const resolved = (approvalId: string, more = {}): Event => ({
  type: 'approvalResolved',
  resolved: { approvalId, threadId: 't-1', state: 'allowed', by: 'user', ...more },
});

function after(...events: Event[]): State {
  return events.reduce(reduce, initialState());
}

const drawn = (state: State): unknown[] =>
  (currentChat(state)?.items ?? []).map((item) => {
    switch (item.kind) {
      case 'prompt':
        return `prompt ${item.text}`;
      case 'text':
      case 'thinking':
        return `${item.kind} ${item.text}`;
      case 'call':
        return `call ${item.call.toolCallId} ${item.result ? (item.result.success ? 'done' : 'refused') : item.call.status}${item.output ? ` ${item.output}` : ''}`;
      case 'question':
        return `question ${item.question.message} ${item.question.state}`;
      case 'notice':
        return `${item.level} ${item.message}`;
      case 'todo':
        return `todo ${item.items.length}`;
      case 'compacted':
        return `compacted ${item.dropped} ${item.summary}`;
      case 'end':
        return `end ${item.stopReason}`;
    }
  });

const call = {
  type: 'toolCall',
  toolCallId: 'c',
  agentName: 'Countersign',
  tool: 'shell',
  title: 'x',
  kind: 'execute',
  category: 'execute',
  status: 'pending',
} as const;
const result = {
  type: 'toolResult',
  toolCallId: 'c',
  tool: 'shell',
  success: true,
  output: '',
  decidedBy: 'user',
  durationMs: 1,
} as const;

it('a chat adds up what its requests cost, and keeps how full the context is', () => {
  const state = after(
    empty,
    update(1, { type: 'usage', inputTokens: 10, cost: 0.25, contextUsed: 10, contextTokens: 100 }),
    update(2, { type: 'usage', inputTokens: 20 }),
    update(3, { type: 'usage', inputTokens: 30, cost: 0.5, contextUsed: 30, contextTokens: 100 }),
  );
  expect([currentChat(state)?.cost, currentChat(state)?.usage?.contextUsed]).toEqual([0.75, 30]);
});

it('a summary says how full the context is then; what it took itself counts in the cost alone', () => {
  const told = update(1, { type: 'usage', inputTokens: 90, contextUsed: 90, contextTokens: 100 });
  const own: ThreadEvent = { type: 'usage', inputTokens: 80, outputTokens: 7, cost: 0.5 };
  const size = { contextUsed: 15, contextTokens: 100 };
  const summarized = update(2, own, { type: 'compacted', summary: 'all', dropped: 3, ...size });
  const compacted = currentChat(after(empty, told, summarized));
  expect(compacted?.usage).toEqual({ type: 'usage', ...size });
  const answered = update(3, { type: 'usage', contextUsed: 20, contextTokens: 100 });
  const chat = currentChat(after(empty, told, summarized, answered));
  expect([chat?.usage?.contextUsed, chat?.cost]).toEqual([20, 0.5]);
});

describe('a chat is what its events say', () => {
  const cases: [string, Event[], unknown[]][] = [
    [
      'text of one kind grows together',
      [
        update(1, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }),
        update(2, { type: 'thinking', text: 'c' }, { type: 'text', text: 'd' }),
      ],
      ['text ab', 'thinking c', 'text d'],
    ],
    [
      'a later call of the same id replaces the earlier',
      [update(1, call, { ...call, status: 'running' })],
      ['call c running'],
    ],
    [
      'output and result go to their call',
      [update(1, call, { type: 'text', text: 'x' }, { type: 'toolOutput', toolCallId: 'c', text: 'out' }, result)],
      ['call c done out', 'text x'],
    ],
    [
      'a summary is one row',
      [update(1, { type: 'compacted', summary: 'what was said', dropped: 12 })],
      ['compacted 12 what was said'],
    ],
    ['a result without a call changes nothing', [update(1, result)], []],
    [
      'a prompt shown early is not drawn twice',
      [{ type: 'prompted', threadId: 't', text: 'hi' }, update(1, { type: 'prompt', text: 'hi' })],
      ['prompt hi'],
    ],
    [
      'the same prompt said again is drawn again',
      [update(1, { type: 'prompt', text: 'hi' }), update(2, { type: 'prompt', text: 'hi' })],
      ['prompt hi', 'prompt hi'],
    ],
    [
      'an update heard before is passed over',
      [update(1, { type: 'text', text: 'a' }), update(1, { type: 'text', text: 'a' })],
      ['text a'],
    ],
    [
      'a list of things to do changes in its place',
      [
        update(
          1,
          { type: 'todo', items: [] },
          { type: 'text', text: 'a' },
          { type: 'todo', items: [{ text: 'x', status: 'pending' }] },
        ),
      ],
      ['todo 1', 'text a'],
    ],
    [
      'an ordinary end is not drawn, another is',
      [update(1, { type: 'done', stopReason: 'end_turn' }), update(2, { type: 'done', stopReason: 'cancelled' })],
      ['end cancelled'],
    ],
    [
      'an error that an event reported is not reported again',
      [
        update(1, { type: 'error', message: 'no', data: {} }, { type: 'done', stopReason: 'error' }),
        { type: 'turnEnded', threadId: 't', error: 'no' },
      ],
      ['error no', 'end error'],
    ],
    [
      'an error that no event reported is reported',
      [
        { type: 'prompted', threadId: 't', text: 'hi' },
        { type: 'turnEnded', threadId: 't', error: 'no' },
      ],
      ['prompt hi', 'error no'],
    ],
    [
      'an event of a newer server is passed over',
      [update(1, { type: 'fanfare' } as never, { type: 'text', text: 'a' })],
      ['text a'],
    ],
  ];
  it.each(cases)('%s', (_, events, expected) => {
    expect(drawn(after(start, empty, ...events))).toEqual(expected);
  });
});

it('a gap in the updates is noted once and changes nothing, and the whole chat closes it', () => {
  const gap = after(
    start,
    empty,
    update(1, { type: 'text', text: 'a' }),
    update(3, { type: 'text', text: 'c' }),
    update(4, { type: 'text', text: 'd' }),
  );
  expect([gap.gaps, drawn(gap)]).toEqual([['t'], ['text a']]);
  const whole = reduce(gap, {
    type: 'threadOpened',
    thread: { ...thread(), threadId: 't', seq: 4, events: [{ type: 'text', text: 'abcd' }] },
  });
  expect([whole.gaps, drawn(reduce(whole, update(5, { type: 'text', text: 'e' })))]).toEqual([[], ['text abcde']]);
});

it('a turn runs from the prompt until it is answered, with queued ones too', () => {
  const runs = (state: State): boolean => isRunning(currentChat(state));
  const first = after(
    start,
    empty,
    { type: 'prompted', threadId: 't', text: 'a' },
    { type: 'prompted', threadId: 't', text: 'b' },
  );
  const between = reduce(reduce(first, update(1, { type: 'done', stopReason: 'end_turn' })), {
    type: 'turnEnded',
    threadId: 't',
  });
  const end = reduce(
    reduce(between, update(2, { type: 'prompt', text: 'b' }, { type: 'done', stopReason: 'end_turn' })),
    { type: 'turnEnded', threadId: 't' },
  );
  expect([runs(after(start, empty)), runs(first), runs(between), runs(end)]).toEqual([false, true, true, false]);
});

describe('the queue', () => {
  const one = plainCommand();
  const two = fetchApproval();
  const queue = (state: State): unknown => ({
    waiting: state.waiting.map(({ approval }) => approval.approvalId),
    cursor: state.cursor,
  });

  const cases: [string, Event[], unknown][] = [
    [
      'is ordered by when each was asked',
      [asked(two), asked(one)],
      { waiting: ['a-plain', 'a-fetch'], cursor: 'a-fetch' },
    ],
    [
      'keeps the place of a call that is asked about again',
      [
        asked(one),
        asked(two),
        resolved('a-plain'),
        asked({ ...one, approvalId: 'a-again', createdAt: '2031', firstAskedAt: one.createdAt }),
      ],
      { waiting: ['a-again', 'a-fetch'], cursor: 'a-fetch' },
    ],
    [
      'keeps the order of what was asked at once',
      [{ ...start, approvals: [{ ...two, createdAt: one.createdAt }, one] }],
      { waiting: ['a-fetch', 'a-plain'], cursor: 'a-fetch' },
    ],
    [
      'shows no card of what was put off before the view was loaded',
      [{ ...start, approvals: [{ ...one, postponed: true }, two] }],
      { waiting: ['a-plain', 'a-fetch'], cursor: 'a-fetch' },
    ],
    [
      'keeps its card when another comes',
      [asked(one), asked(two)],
      { waiting: ['a-plain', 'a-fetch'], cursor: 'a-plain' },
    ],
    [
      'goes on to the card that takes the place',
      [asked(one), asked(two), resolved('a-plain')],
      { waiting: ['a-fetch'], cursor: 'a-fetch' },
    ],
    [
      'steps round',
      [asked(one), asked(two), { type: 'step', by: -1 }, { type: 'step', by: 1 }, { type: 'step', by: 1 }],
      { waiting: ['a-plain', 'a-fetch'], cursor: 'a-fetch' },
    ],
    ['is empty when all is answered', [asked(one), resolved('a-plain')], { waiting: [], cursor: undefined }],
    [
      'stays when an unknown request is resolved',
      [asked(one), resolved('a-other')],
      { waiting: ['a-plain'], cursor: 'a-plain' },
    ],
    [
      'is what a new connection says',
      [asked(one), { ...start, approvals: [two] }],
      { waiting: ['a-fetch'], cursor: 'a-fetch' },
    ],
    ['steps nowhere when empty', [{ type: 'step', by: 1 }], { waiting: [], cursor: undefined }],
  ];
  it.each(cases)('%s', (_, events, expected) => {
    expect(queue(after(start, ...events))).toEqual(expected);
  });

  it('takes the deadline of a request from the server, whatever was known of it', () => {
    const known = after(start, asked({ ...one, expiresAt: '2026-11-20T09:20:00.000Z' }));
    const [reloaded] = reduce(known, { ...start, approvals: [{ ...one, postponed: true }] }).waiting;
    expect([reloaded?.postponed, reloaded?.approval.expiresAt]).toEqual([true, undefined]);
    const putOff = reduce(known, { type: 'postponed', approvalId: 'a-plain', postponed: true });
    expect(putOff.waiting[0]?.approval.expiresAt).toBeUndefined();
  });

  it('says what waits, and what became of it', () => {
    const waits = after(start, asked(one), asked(two));
    expect([waits.saying, reduce(waits, resolved('a-plain', { state: 'denied', by: 'timeout' })).saying]).toEqual([
      'Claude Code asks: Fetch docs.python.org? 2 waiting. Control Alt Period goes to the card, Control Alt Enter denies.',
      'Run shell command? denied because nobody answered. 1 waiting.',
    ]);
  });

  it('brings the card to the screen that a command names, unless it was put off or has ended', () => {
    const asks = [start, asked(one), asked(two)] as const;
    const focus = (approvalId: string): Event => ({ type: 'act', action: 'focus', approvalId });
    expect(after(...asks).cursor).toBe('a-plain');
    expect(after(...asks, focus('a-fetch')).cursor).toBe('a-fetch');
    expect(after(...asks, focus('gone')).cursor).toBe('a-plain');
    const putOff: Event = { type: 'postponed', approvalId: 'a-fetch', postponed: true };
    expect(after(...asks, putOff, focus('a-fetch')).cursor).toBe('a-plain');
  });

  it('leaves the review when nothing waits any more', () => {
    expect(after(start, asked(one), { type: 'page', page: 'review' }, resolved('a-plain')).page).toBe('chat');
  });
});

it('output of a command is read on from where it was, and what was asked twice is not added twice', () => {
  const output = (from: number, text: string, next: number): Event => ({
    type: 'shellOutput',
    shellId: 's',
    from,
    output: { text, next, state: 'running' },
  });
  expect(after(start, output(0, 'ab', 2), output(2, 'cd', 4), output(2, 'cd', 4)).outputs['s']).toEqual({
    text: 'abcd',
    next: 4,
    truncated: false,
  });
});

it('a reopened chat does not come to the front by itself', () => {
  const state = after(
    start,
    empty,
    { type: 'openChat', threadId: 't-1' },
    { ...empty, thread: { ...thread(), threadId: 't' } },
  );
  expect(state.current).toBe('t-1');
});

it('the list of chats tells the mode of each, which another window may have set', () => {
  const listed = threads().map((one) => ({ ...one, mode: 'auto' as const }));
  const opened = listed[0]!.threadId;
  const chat: ToWebview = { type: 'threadOpened', thread: { ...empty.thread, threadId: opened } };
  expect(currentChat(after(start, chat))?.mode).toBe('default');
  expect(currentChat(after(start, chat, { type: 'threads', threads: listed }))?.mode).toBe('auto');
  expect(currentChat(after(start, chat, { ...start, threads: listed }))?.mode).toBe('auto');
});

it('further entries of the history are taken after those that they were asked for, and once', () => {
  const entry = (first: string) => ({ receiptId: first }) as HistoryEntry;
  const page = (first: string, more: object): ToWebview => ({
    type: 'history',
    entries: [entry(first)],
    ...more,
  });
  const shown = (...events: Event[]): string[] => after(...events).history.entries.map(({ receiptId }) => receiptId);
  const one = page('a', { cursor: 'c-1' });
  const two = page('b', { cursor: 'c-2', after: 'c-1' });
  expect(shown(one, two, two)).toEqual(['a', 'b']);
  expect(shown(one, page('z', { cursor: 'c-9' }), two)).toEqual(['z']);
});
