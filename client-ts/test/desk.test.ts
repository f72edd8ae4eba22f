// The whole desk against one scripted link and host. Over 500 lines, as all cases share that fixture and its state.
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { Question } from '../src/approvals.ts';
import { createDesk, type Desk, type DeskHost } from '../src/desk.ts';
import { createTexts } from '../src/editorText.ts';
import { asIntent } from '../src/intents.ts';
import { MOST_IMAGE, MOST_IMAGES } from '../src/imageSizes.ts';
import { type Link, ServerError } from '../src/link.ts';
import type { Completion, ToWebview } from '../src/messages.ts';
import { misfit } from '../src/wire.schema.gen.ts';
import type * as wire from '../src/wire.gen.ts';
import { agents, fetchApproval, plainCommand, threads } from './fixtures.ts';

let asked: Question[];
let sent: [string, unknown][];
let posted: ToWebview[];
let says: boolean;
let press: string | undefined;
let opens: boolean;
let remembered: Set<string>;
let fails: ServerError | undefined;
let desk: Desk;
let past: wire.HistoryEntry[];
let answers: Record<string, unknown>;
/** What happens between a request and its answer. */
let meanwhile: ((method: string) => void) | undefined;
/** What is done while the person looks at a modal. */
let whileAsked: (() => Promise<void>) | undefined;
/** What an answer waits for, after it was made. */
let late: ((method: string) => Promise<void> | undefined) | undefined;
let files: (text: string) => Promise<Completion[]>;
let symbols: (text: string) => Promise<Completion[]>;

const ruleView = (ruleId: string, list: wire.RuleView['list'], rule: string, scope: string): wire.RuleView => ({
  ruleId,
  list,
  rule,
  scope,
  hits: 0,
});
const rules = (): wire.RuleView[] => [
  ruleView('r-deny', 'deny', 'Bash(rm:*)', 'user'),
  ruleView('r-ask', 'ask', 'Bash(git push:*)', 'user'),
  ruleView('r-allow', 'allow', 'Bash(npm run test:*)', 'workspace'),
];
const grants = (): wire.GrantView[] => [
  {
    grantId: 'g-chat',
    rule: 'Bash(npm run test -- --watch=false)',
    scope: 'chat',
    agentName: 'Countersign',
    threadId: 't-1',
  },
];

beforeEach(async () => {
  files = async (text) => [{ name: `${text}.py`, path: `/w/${text}.py` }];
  symbols = async () => [];
  asked = [];
  sent = [];
  posted = [];
  says = false;
  meanwhile = undefined;
  late = undefined;
  whileAsked = undefined;
  opens = true;
  press = undefined;
  remembered = new Set();
  fails = undefined;
  past = [];
  answers = {
    'history/stats': { calls: [], models: [], times: [], activeHours: 0 },
    'history/undo': { path: '/w/src/a.md' },
    'thread/list': { threads: threads() },
    'tool/pendingApprovals': { approvals: [plainCommand()] },
    'agent/list': {
      agents: [
        ...agents(),
        {
          agentName: 'Free',
          type: 'acp',
          state: 'idle',
          label: 'gated',
          bypass: true,
          bypassScope: 'session',
          default: false,
        },
        {
          agentName: 'Fallen',
          type: 'acp',
          state: 'idle',
          label: 'unguarded',
          bypass: false,
          default: false,
          detail: 'it acted without asking',
          fallen: true,
        },
        {
          agentName: 'Kept',
          type: 'acp',
          state: 'idle',
          label: 'gated',
          bypass: true,
          bypassScope: 'workspace',
          default: false,
        },
      ],
    },
    'thread/create': { threadId: 'new', agentName: 'Countersign', mode: 'default' },
    'thread/setMode': { mode: 'auto' },
    'thread/prompt': { stopReason: 'end_turn' },
    'rule/list': { rules: rules(), calls: 0 },
    'grant/list': { grants: grants() },
    'rule/proposals': {
      proposals: [
        { rule: 'Bash(make:*)', scopes: ['workspace'], spared: 3, since: 's', last: 'l', examples: [], agents: [] },
      ],
      looked: 3,
      most: 1000,
      unjudged: 0,
    },
    'tool/approvalBatch': { results: [] },
    'tool/approvalPostpone': { approvalId: 'a-plain' },
    'ledger/status': { state: 'broken', rows: 9, head: 'h9', brokenAt: 3, reason: 'row 3 was changed' },
    'agent/probe': { command: ['/usr/bin/python3', 'probe'] },
    'rule/preview': { covers: true, wider: true, examples: ['npm publish'], digest: 'sha256:p' },
  };
  const link: Link = {
    state: 'running',
    request: async (method, params) => {
      expect(misfit(method, 'params', params)).toBeUndefined();
      sent.push([method, params]);
      if (fails && (method === 'tool/approvalResponse' || fails.kind === 'disconnected')) throw fails;
      const answer = method === 'history/query' ? { entries: past } : (answers[method] ?? {});
      meanwhile?.(method);
      const held = late?.(method);
      if (held) await held;
      return answer as never;
    },
    notify: (method, params) => void sent.push([method, params]),
  };
  const host: DeskHost = {
    ...createTexts((message) => message),
    confirm: async (question) => {
      asked.push(question);
      await whileAsked?.();
      return says;
    },
    async choose(message, detail, ...buttons) {
      asked.push({ message, detail, button: buttons.at(-1)! });
      return buttons.find((button) => button === press) ?? (says ? buttons.at(-1) : undefined);
    },
    openDiff: async () => undefined,
    openFile: async () => undefined,
    openLink: async (href) => (sent.push(['openLink', { href }]), opens),
    openSettings: () => undefined,
    focusEditor: () => undefined,
    copy: async () => undefined,
    insert: async () => undefined,
    showLog: () => undefined,
    restartServer: () => undefined,
    pick: async (items) => items[0],
    showWork: async (_, work) => work(() => undefined),
    runInTerminal: async (name, command) => void sent.push(['runInTerminal', [name, ...command]]),
    tell: (level, message) => void sent.push([level, message]),
    openTerminal: (name, command) => void sent.push(['openTerminal', [name, ...command]]),
    enterKey: async () => undefined,
    newLedgerChain: async () => void sent.push(['newLedgerChain', {}]),
    selection: () => ({ path: '/w/a.py', text: 'x = 1', startLine: 3, endLine: 4 }),
    matchingFiles: async (text) => files(text),
    matchingSymbols: async (text) => symbols(text),
    keptView: () => undefined,
    keepView: () => undefined,
    keptPrompts: () => undefined,
    keepPrompts: () => undefined,
    recall: (key) => remembered.has(key),
    remember: (key) => void remembered.add(key),
    models: () => ({ models: ['local'], modelOf: {} }),
    setModel: async (agentName, model) => void sent.push(['setModel', { agentName, model }]),
    surroundings: () => ({ trusted: true, workspace: '/w', mac: false, strings: {} }),
    suggestions: () => [],
  };
  desk = createDesk(
    link,
    host,
    (message) => posted.push(message),
    () => undefined,
  );
  await desk.refresh();
  sent = [];
  posted = [];
});

/** As it comes from the webview: any message at all. */
async function forge(message: unknown): Promise<void> {
  const intent = asIntent(message);
  if (intent) await desk.handle(intent);
}

const card = { approvalId: 'a-plain', digest: 'd-plain' };
const answerOf = (more: object): [string, unknown][] => [
  [
    'tool/approvalResponse',
    { ...card, response: { outcome: { outcome: 'selected', optionId: 'allow_once' } }, bypassAll: false, ...more },
  ],
];

describe('a question of an agent', () => {
  const url = {
    elicitationId: 'q-1',
    threadId: 't-1',
    agentName: 'A',
    message: 'm',
    createdAt: '',
    url: 'https://a.example/',
  };
  const form = {
    ...url,
    elicitationId: 'q-2',
    url: undefined,
    schema: { type: 'object' as const, properties: {}, required: [] },
  };
  beforeEach(() => {
    desk.questionAsked(url);
    desk.questionAsked(form);
    sent = [];
  });

  it('is shown, listed, and gone when it has ended', () => {
    expect(posted.map(({ type }) => type)).toEqual(['question', 'question']);
    desk.questionResolved({ elicitationId: 'q-1', threadId: 't-1', state: 'declined' });
    expect(desk.questions().map(({ elicitationId }) => elicitationId)).toEqual(['q-2']);
    desk.connectionChanged({ state: 'stopped' });
    expect(desk.questions()).toEqual([]);
  });

  it('opens the address that the server gave, and says so to the agent', async () => {
    await forge({ type: 'questionOpen', elicitationId: 'q-1', url: 'https://evil.example/' });
    expect(sent).toEqual([
      ['openLink', { href: 'https://a.example/' }],
      ['elicitation/respond', { elicitationId: 'q-1', action: 'accept' }],
    ]);
  });

  it('is not accepted for an address that the person would not open', async () => {
    opens = false;
    await forge({ type: 'questionOpen', elicitationId: 'q-1' });
    expect(sent).toEqual([['openLink', { href: 'https://a.example/' }]]);
    expect(posted.at(-1)).toMatchObject({ type: 'questionFailed', elicitationId: 'q-1' });
  });

  it('is answered with values, declined or dismissed, and never approves', async () => {
    await forge({ type: 'questionSubmit', elicitationId: 'q-2', content: { a: 1, b: ['x'], c: true } });
    await forge({ type: 'questionRefuse', elicitationId: 'q-1', action: 'decline' });
    await forge({ type: 'questionRefuse', elicitationId: 'q-2', action: 'cancel' });
    expect(sent).toEqual([
      ['elicitation/respond', { elicitationId: 'q-2', action: 'accept', content: { a: 1, b: ['x'], c: true } }],
      ['elicitation/respond', { elicitationId: 'q-1', action: 'decline' }],
      ['elicitation/respond', { elicitationId: 'q-2', action: 'cancel' }],
    ]);
  });

  it.each([
    ['one that is not open', { type: 'questionSubmit', elicitationId: 'q-9', content: {} }],
    ['nested values', { type: 'questionSubmit', elicitationId: 'q-2', content: { a: { b: 1 } } }],
    ['values that are a list', { type: 'questionSubmit', elicitationId: 'q-2', content: [] }],
    ['a form for an address', { type: 'questionSubmit', elicitationId: 'q-1', content: {} }],
    ['an address for a form', { type: 'questionOpen', elicitationId: 'q-2' }],
    ['an acceptance as a refusal', { type: 'questionRefuse', elicitationId: 'q-1', action: 'accept' }],
  ])('a webview that lies sends nothing: %s', async (_, message) => {
    await forge(message);
    expect(sent).toEqual([]);
  });
});

describe('a webview that lies changes nothing', () => {
  const forgeries: [string, unknown][] = [
    ['bypass without the modal', { type: 'bypass', ...card }],
    ['bypass of an agent without the modal', { type: 'bypassStart', agentName: 'Claude Code' }],
    [
      'bypass of an agent with a scope of its own',
      { type: 'bypassStart', agentName: 'Claude Code', scope: 'workspace', on: true },
    ],
    ['bypass of an unknown agent', { type: 'bypassStart', agentName: 'Nobody' }],
    ['passing a variable without the modal', { type: 'passVariable', name: 'MYAPP_PASS' }],
    ['environment/pass by name', { type: 'environment/pass', name: 'MYAPP_PASS' }],
    ['the end of a bypass that is off', { type: 'bypassEnd', agentName: 'Claude Code' }],
    ['a label reset without the modal', { type: 'labelReset', agentName: 'Fallen' }],
    ['a label reset of an agent that has not fallen', { type: 'labelReset', agentName: 'Free' }],
    ['agent/setBypass by name', { type: 'agent/setBypass', agentName: 'Claude Code', scope: 'workspace', on: true }],
    ['bypass as an answer', { type: 'answer', ...card, optionId: 'bypass' }],
    [
      'bypassAll smuggled into an answer that is not offered',
      { type: 'answer', ...card, optionId: 'allow_everything', bypassAll: true },
    ],
    ['settings/confirm', { type: 'settings/confirm', digest: 'x', accept: true }],
    ['settings/confirm by another name', { type: 'confirm', digest: 'x', accept: true }],
    [
      'settings/changed with byPerson',
      { type: 'settings/changed', settings: {}, trusted: true, byPerson: [{ key: 'a', digest: 'b' }] },
    ],
    ['a server method by name', { type: 'tool/approvalResponse', ...card, bypassAll: true }],
    ['a rule that was not offered', { type: 'answer', ...card, optionId: 'allow_always_user_1', rule: 'Bash' }],
    [
      'a rule for a short while that was not offered',
      { type: 'answer', ...card, optionId: 'allow_chat', rule: 'Bash(*)' },
    ],
    ['a new allow rule', { type: 'ruleAdd', list: 'allow', rule: 'Bash', scope: 'user' }],
    ['a proposal that the server did not make', { type: 'proposalAdd', rule: 'Bash', scope: 'workspace' }],
    ['taking out a deny rule', { type: 'ruleRemove', ruleId: 'r-deny' }],
    ['taking out an ask rule', { type: 'ruleRemove', ruleId: 'r-ask' }],
    ['taking back what nobody kept', { type: 'takeBack', toolCallId: 'c-none' }],
    ['a rule for an unknown scope', { type: 'ruleAdd', list: 'deny', rule: 'Bash', scope: 'managed' }],
    ['the first switch to Auto', { type: 'setMode', threadId: 't-1', mode: 'auto' }],
    ['Auto with a new chat', { type: 'prompt', text: 'hi', mode: 'auto' }],
    ['an unknown mode', { type: 'setMode', threadId: 't-1', mode: 'yolo' }],
    ['an answer to another digest', { type: 'answer', ...card, digest: 'd-other', optionId: 'allow_once' }],
    ['an answer without a digest', { type: 'answer', approvalId: 'a-plain', optionId: 'allow_once' }],
    [
      'an answer to an unknown request',
      { type: 'answer', approvalId: 'a-none', digest: 'd-plain', optionId: 'allow_once' },
    ],
    [
      'a batch with wrong digests',
      { type: 'batch', cards: [{ approvalId: 'a-plain', digest: 'x' }], decision: 'allow_once' },
    ],
    ['a batch that decides otherwise', { type: 'batch', cards: [card], decision: 'allow_always' }],
    ['a batch without digests', { type: 'batch', cards: [{ approvalId: 'a-plain' }], decision: 'allow_once' }],
    ['a model that nobody set up', { type: 'setModel', agentName: 'Countersign', model: 'https://evil.example' }],
    ['deleting a chat', { type: 'deleteThread', threadId: 't-1' }],
    ['no object', 'bypass'],
    ['a prototype', { type: '__proto__' }],
    ['fields of the wrong type', { type: 'openFile', path: ['/etc/passwd'] }],
  ];
  it.each(forgeries)('%s', async (_, message) => {
    await forge(message);
    expect(
      sent.filter(([method]) => !method.endsWith('/list') && method !== 'history/query' && method !== 'rule/preview'),
    ).toEqual([]);
  });
});

it('putting a request off decides nothing, and is known to a view that is opened anew', async () => {
  await forge({ type: 'postpone', approvalId: 'a-plain', postponed: true });
  await forge({ type: 'postpone', approvalId: 'a-none', postponed: true });
  expect(sent).toEqual([['tool/approvalPostpone', { approvalId: 'a-plain', postponed: true }]]);
  expect(posted).toEqual([{ type: 'postponed', approvalId: 'a-plain', postponed: true }]);
  await desk.handle({ type: 'ready' });
  const first = posted.find(({ type }) => type === 'snapshot');
  expect(first).toMatchObject({ approvals: [{ approvalId: 'a-plain', postponed: true }] });
  // Without a deadline: its clock stands still. What the server says next stands.
  expect(first).not.toMatchObject({ approvals: [{ expiresAt: expect.any(String) as string }] });
  expect(posted.at(-1)).not.toMatchObject({ approvals: [{ postponed: true }] });
});

it('rules that were shown are shown anew when settings change, and others are not asked for', async () => {
  const lists = (): number => sent.filter(([method]) => method === 'rule/list').length;
  desk.surroundingsChanged();
  expect(lists()).toBe(0);
  await desk.handle({ type: 'rules' });
  desk.surroundingsChanged();
  await vi.waitFor(() => expect(posted.filter(({ type }) => type === 'rules')).toHaveLength(2));
  expect(lists()).toBe(2);
});

describe('what widens is asked again, and then done', () => {
  it('bypass says what it means and sets it with the approval', async () => {
    says = true;
    await forge({ type: 'bypass', ...card });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ button: 'Bypass Permissions', message: 'Bypass permissions for Countersign?' });
    expect(asked[0]!.detail).toMatch(
      /Outside the workspace it may read and write too.*keys in your home folder.*still stop it/,
    );
    expect(sent).toEqual(answerOf({ bypassAll: true, bypassScope: 'workspace' }));
  });

  it.each([
    ['Bypass Permissions', 'workspace'],
    ['Bypass Until Window Closes', 'session'],
  ])('%s of an agent lasts as long as its button says', async (button, scope) => {
    press = button;
    await forge({ type: 'bypassStart', agentName: 'Claude Code' });
    expect(asked.map(({ message }) => message)).toEqual(['Bypass permissions for Claude Code?']);
    expect(sent).toEqual([['agent/setBypass', { agentName: 'Claude Code', scope, on: true }]]);
    sent = [];
    await forge({ type: 'bypass', ...card });
    expect(sent).toEqual(answerOf({ bypassAll: true, bypassScope: scope }));
  });

  it.each([[undefined], ['Change Nothing']])('bypass is not turned on by %s', async (button) => {
    press = button;
    await forge({ type: 'bypassStart', agentName: 'Claude Code' });
    await forge({ type: 'bypass', ...card });
    expect(asked).toHaveLength(2);
    expect(sent).toEqual([]);
  });

  it('a withheld variable is passed only by the button that says so', async () => {
    press = 'Pass in This Workspace';
    await forge({ type: 'passVariable', name: 'MYAPP_PASS' });
    expect(asked.map(({ message }) => message)).toEqual(['Pass MYAPP_PASS to commands?']);
    expect(asked[0]!.detail).toMatch(/without asking you.*wherever it reaches/);
    expect(sent).toEqual([['environment/pass', { name: 'MYAPP_PASS' }]]);
    sent = [];
    for (press of [undefined, 'Change Nothing']) await forge({ type: 'passVariable', name: 'MYAPP_PASS' });
    expect(asked).toHaveLength(3);
    // No environment has such names; they are not even asked about.
    for (const name of ['A B', 'A=B', '', 'A\u202eB', 'A'.repeat(200)]) await forge({ type: 'passVariable', name });
    expect(asked).toHaveLength(3);
    expect(sent).toEqual([]);
  });

  it('a label is reset only where the person says so', async () => {
    await forge({ type: 'labelReset', agentName: 'Fallen' });
    expect(asked[0]!.detail).toContain('it acted without asking');
    expect(sent).toEqual([]);
    press = 'Forget It';
    await forge({ type: 'labelReset', agentName: 'Fallen' });
    expect(sent).toEqual([['agent/resetLabel', { agentName: 'Fallen' }]]);
  });

  it('a probe opens a terminal with the line of the server, for hosted agents that exist', async () => {
    await forge({ type: 'agentProbe', agentName: 'Nobody' });
    await forge({ type: 'agentProbe', agentName: 'Fallen', command: ['sh'] });
    expect(sent).toEqual([
      ['agent/probe', { agentName: 'Fallen' }],
      ['openTerminal', ['Probe Fallen', '/usr/bin/python3', 'probe']],
    ]);
    expect(asked).toEqual([]);
  });

  it('bypass ends at once, where it was turned on', async () => {
    await forge({ type: 'bypassEnd', agentName: 'Free' });
    await forge({ type: 'bypassEnd', agentName: 'Kept' });
    expect(asked).toEqual([]);
    expect(sent).toEqual([
      ['agent/setBypass', { agentName: 'Free', scope: 'session', on: false }],
      ['agent/setBypass', { agentName: 'Kept', scope: 'workspace', on: false }],
    ]);
  });

  it('a rule of the person’s own is shown in full and kept', async () => {
    says = true;
    await forge({ type: 'answer', ...card, optionId: 'allow_always_workspace_1', rule: 'Bash(npm *)' });
    expect(asked[0]!.detail).toContain('Bash(npm *)');
    expect(asked[0]!.detail).toMatch(/wider than the widest rule offered[^]*npm publish/);
    expect(sent).toEqual([
      ['rule/preview', { approvalId: 'a-plain', rule: 'Bash(npm *)' }],
      ...answerOf({
        response: { outcome: { outcome: 'selected', optionId: 'allow_always_workspace_1' } },
        rule: 'Bash(npm *)',
        confirmed: { ruleDigest: 'sha256:p' },
      }),
    ]);
  });

  it('Auto is asked about once', async () => {
    says = true;
    await forge({ type: 'setMode', threadId: 't-1', mode: 'auto' });
    await forge({ type: 'setMode', threadId: 't-1', mode: 'auto' });
    expect([asked.length, sent.map(([method]) => method)]).toEqual([1, ['thread/setMode', 'thread/setMode']]);
  });
});

describe('plain answers go through as they are', () => {
  it('with id and digest', async () => {
    await forge({ type: 'answer', ...card, optionId: 'allow_once' });
    expect([asked, sent]).toEqual([[], answerOf({})]);
  });

  it('an offered rule needs no second question', async () => {
    await forge({ type: 'answer', ...card, optionId: 'allow_always_workspace_1', rule: 'Bash(npm run test:*)' });
    expect([asked.length, sent.length]).toEqual([0, 1]);
  });

  it('a denial carries its reason', async () => {
    await forge({ type: 'answer', ...card, optionId: 'reject_once', reason: 'no' });
    expect(sent).toEqual(
      answerOf({ response: { outcome: { outcome: 'selected', optionId: 'reject_once' } }, reason: 'no' }),
    );
  });

  it('an error leaves the card open and says why', async () => {
    fails = new ServerError('the settings file has unsaved changes', 'invalid');
    await forge({ type: 'answer', ...card, optionId: 'allow_once' });
    expect(posted).toEqual([
      { type: 'answerFailed', approvalId: 'a-plain', message: 'the settings file has unsaved changes' },
    ]);
    expect(desk.approvals().map((approval) => approval.approvalId)).toEqual(['a-plain']);
  });

  it('a resolved request takes no answer any more', async () => {
    desk.approvalResolved({ approvalId: 'a-plain', threadId: 't-1', state: 'expired', by: 'timeout' });
    await forge({ type: 'answer', ...card, optionId: 'allow_once' });
    expect(sent).toEqual([]);
  });

  it('only those of a batch that are as they were shown are answered', async () => {
    desk.approvalRequested(fetchApproval());
    await forge({ type: 'batch', cards: [card, { approvalId: 'a-fetch', digest: 'old' }], decision: 'reject_once' });
    expect(sent).toEqual([
      ['tool/approvalBatch', { approvalIds: ['a-plain'], decision: 'reject_once', digests: [card.digest] }],
    ]);
  });
});

it('while no server is there its banner says so, and nothing else does', async () => {
  fails = new ServerError('the server is not running; restart it first', 'disconnected');
  const notices = (): unknown[] => posted.filter(({ type }) => type === 'notice');
  desk.connectionChanged({ state: 'running' });
  await desk.handle({ type: 'openThread', threadId: 't-1' });
  expect(notices(), 'it is asked for again').toEqual([]);
  await desk.handle({ type: 'undo', receiptId: 'r' });
  expect(notices()).toHaveLength(1);
  desk.connectionChanged({ state: 'stopped', message: 'm' });
  await desk.handle({ type: 'undo', receiptId: 'r' });
  expect(notices()).toHaveLength(1);
});

it('the first prompt makes a chat, shows the prompt and sends it', async () => {
  await forge({ type: 'prompt', text: 'hi', mode: 'plan', agentName: 'Countersign' });
  expect(sent.slice(0, 2)).toEqual([
    ['thread/create', { agentName: 'Countersign', mode: 'plan' }],
    ['thread/prompt', { threadId: 'new', text: 'hi' }],
  ]);
  expect(posted.filter((message) => message.type !== 'threads').map((message) => message.type)).toEqual([
    'threadOpened',
    'prompted',
    'turnEnded',
  ]);
});

it('an intent holds the fields of its shape and no others', () => {
  expect(asIntent({ type: 'bypass', ...card, bypassAll: true, extra: 1 })).toEqual({ type: 'bypass', ...card });
});

describe('rules are taken by one press where the server worded them, and taken back by one', () => {
  const methods = (): unknown[] => sent.filter(([method]) => !method.endsWith('/list') && method !== 'rule/proposals');
  const kept = (): unknown[] => posted.filter((message) => message.type === 'kept');
  const callId = plainCommand().toolCall.toolCallId;

  it('a proposal is added without a second question, and the lists come anew', async () => {
    await forge({ type: 'proposals' });
    await forge({ type: 'proposalAdd', rule: 'Bash(make:*)', scope: 'workspace' });
    expect([asked, methods()]).toEqual([
      [],
      [['rule/add', { list: 'allow', rule: 'Bash(make:*)', scope: 'workspace' }]],
    ]);
    expect(posted.map((message) => message.type).toSorted()).toEqual(['proposals', 'proposals', 'rules']);
  });

  it('a proposal for a scope that it was not made for is asked about', async () => {
    await forge({ type: 'proposals' });
    await forge({ type: 'proposalAdd', rule: 'Bash(make:*)', scope: 'user' });
    expect([asked.length, methods()]).toEqual([1, []]);
  });

  it('a rule that was kept by an answer is taken back', async () => {
    await forge({ type: 'answer', ...card, optionId: 'allow_always_workspace_2' });
    expect(kept()).toEqual([
      { type: 'kept', toolCallId: callId, kept: { list: 'allow', rule: 'Bash(npm run test:*)', scope: 'workspace' } },
    ]);
    sent = [];
    await forge({ type: 'takeBack', toolCallId: callId });
    expect([asked, methods()]).toEqual([[], [['rule/remove', { ruleId: 'r-allow' }]]]);
    expect(kept().at(-1)).toEqual({ type: 'kept', toolCallId: callId });
  });

  it('so is a grant', async () => {
    await forge({ type: 'answer', ...card, optionId: 'allow_chat' });
    sent = [];
    await forge({ type: 'takeBack', toolCallId: callId });
    expect([asked, methods()]).toEqual([[], [['grant/revoke', { grantId: 'g-chat' }]]]);
  });

  it('an answer for once, and one that was not taken, leave nothing behind', async () => {
    await forge({ type: 'answer', ...card, optionId: 'allow_once' });
    fails = new ServerError('no', 'invalid');
    await forge({ type: 'answer', ...card, optionId: 'allow_always_workspace_1' });
    expect(kept()).toEqual([]);
  });

  it('what was kept before the window was loaded is known from history', async () => {
    const row = {
      receiptId: 'r',
      seq: 1,
      at: 'now',
      threadId: 't-1',
      agentName: 'Countersign',
      toolCallId: 'c-old',
      tool: 'shell',
      digest: 'd',
    };
    past = [
      {
        ...row,
        evidence: [],
        phase: 'decided',
        verdict: 'allow',
        by: 'user',
        outcome: { state: 'allowed', note: 'kept Bash(npm run test:*) (workspace)' },
      },
    ];
    await forge({ type: 'takeBack', toolCallId: 'c-old' });
    expect(methods()).toEqual([
      ['history/query', { filter: { toolCallId: 'c-old' } }],
      ['rule/remove', { ruleId: 'r-allow' }],
    ]);
  });

  it('taking a denial back is asked about, because it loosens', async () => {
    await forge({ type: 'answer', ...card, optionId: 'reject_always' });
    sent = [];
    await forge({ type: 'takeBack', toolCallId: callId });
    expect([asked.map((question) => question.button), methods()]).toEqual([['Remove Rule'], []]);
  });

  it('reports what is gone already', async () => {
    await forge({ type: 'answer', ...card, optionId: 'allow_turn' });
    await forge({ type: 'takeBack', toolCallId: callId });
    expect(posted.findLast((message) => message.type === 'notice')?.message).toContain('nothing to take back');
    expect(kept().at(-1)).toEqual({ type: 'kept', toolCallId: callId });
  });

  it('an allow rule goes by one press, a deny rule after a yes', async () => {
    await forge({ type: 'ruleRemove', ruleId: 'r-allow' });
    says = true;
    await forge({ type: 'ruleRemove', ruleId: 'r-deny' });
    expect([asked.length, methods()]).toEqual([
      1,
      [
        ['rule/remove', { ruleId: 'r-allow' }],
        ['rule/remove', { ruleId: 'r-deny' }],
      ],
    ]);
  });
});

it('a change that was taken back is told to the view, with its file as seen from the workspace', async () => {
  await forge({ type: 'undo', receiptId: 'r-1' });
  expect(posted[0]).toEqual({ type: 'undone', receiptId: 'r-1' });
  expect(posted[1]).toMatchObject({ type: 'notice', message: 'src/a.md is as it was before.' });
});

describe('the history page hears of a damaged ledger', () => {
  const types = (): string[] => posted.map(({ type }) => type);

  it('when it is opened or searched, before its rows, and not for a single call or a further page', async () => {
    await forge({ type: 'history' });
    expect(types()).toEqual(['ledger', 'history']);
    expect(posted[0]).toMatchObject({ status: { state: 'broken', brokenAt: 3 } });
    await forge({ type: 'history', toolCallId: 'c-1' });
    await forge({ type: 'history', cursor: 'next' });
    expect(types()).toEqual(['ledger', 'history', 'history', 'history']);
  });

  it('and its figures are asked for with the filters of the page, and shown', async () => {
    await forge({
      type: 'historyStats',
      text: '',
      agentName: 'Claude',
      verdict: 'deny',
      since: '2026-11-20T09:00:00Z',
    });
    await forge({ type: 'historyStats' });
    expect(sent.filter(([method]) => method === 'history/stats')).toEqual([
      ['history/stats', { filter: { agentName: 'Claude', verdict: 'deny', since: '2026-11-20T09:00:00Z' } }],
      ['history/stats', { filter: {} }],
    ]);
    expect(posted).toEqual([
      { type: 'historyStats', stats: { calls: [], models: [], times: [], activeHours: 0 } },
      { type: 'historyStats', stats: { calls: [], models: [], times: [], activeHours: 0 } },
    ]);
  });

  it('whenever the server says that it changed', () => {
    desk.ledgerChanged({ state: 'whole', rows: 10, head: 'h10' });
    expect(posted).toEqual([{ type: 'ledger', status: { state: 'whole', rows: 10, head: 'h10' } }]);
  });

  it('and its button leads to the modal, never straight to a new chain', async () => {
    await forge({ type: 'newLedgerChain', reason: 'forged' });
    await forge({ type: 'ledger/newChain', reason: 'forged' });
    expect(sent).toEqual([['newLedgerChain', {}]]);
  });
});

describe('what goes along with a prompt', () => {
  const attachments = (): unknown[] =>
    sent.flatMap(([method, params]) =>
      method === 'thread/prompt' ? [(params as { attachments?: unknown }).attachments] : [],
    );

  it('is named by the extension, sent once, and nothing that the webview makes up', async () => {
    await forge({ type: 'attachSelection' });
    await forge({ type: 'attachFile', path: '/w/src/b.py', line: 7 });
    const given = posted.flatMap((message) => (message.type === 'attached' ? [message.attachment] : []));
    expect(given).toEqual([
      { id: '1', path: 'a.py', startLine: 3, endLine: 4 },
      { id: '2', path: 'src/b.py', startLine: 7, endLine: 7 },
    ]);
    await forge({ type: 'prompt', threadId: 't-1', text: 'read these', attachments: ['2', '1', '9', '__proto__'] });
    await forge({ type: 'prompt', threadId: 't-1', text: 'and again', attachments: ['1'] });
    await forge({ type: 'prompt', threadId: 't-1', text: 'a forged one', attachments: [{ path: '/etc/passwd' }] });
    expect(attachments()).toEqual([
      [
        { path: '/w/src/b.py', startLine: 7, endLine: 7 },
        { path: '/w/a.py', text: 'x = 1', startLine: 3, endLine: 4 },
      ],
      undefined,
    ]);
  });

  it('a file is handed over by its path alone: its text is read by the agent, if it may', async () => {
    await forge({ type: 'attachFile', path: '/home/me/.ssh/id_rsa', text: 'x' });
    await forge({ type: 'prompt', threadId: 't-1', text: 'read', attachments: ['1'] });
    expect(attachments()).toEqual([[{ path: '/home/me/.ssh/id_rsa' }]]);
  });

  const image = (name: string, data: string) => ({ type: 'attachImage', name, mimeType: 'image/png', data });

  it('an image goes along as the webview read it, once, and not after it was taken away', async () => {
    for (const name of ['a.png', 'a.png', 'gone.png']) await forge(image(name, 'aWFnZQ=='));
    expect(posted.map((message) => message.type === 'attached' && message.attachment)).toEqual([
      { id: '1', path: 'a.png', image: true },
      { id: '2', path: 'a.png', image: true },
      { id: '3', path: 'gone.png', image: true },
    ]);
    await forge({ type: 'detach', id: '3' });
    await forge({ type: 'prompt', threadId: 't-1', text: 'look', attachments: ['1', '2', '3'] });
    await forge({ type: 'prompt', threadId: 't-1', text: 'look again', attachments: ['1'] });
    const sentImage = { kind: 'image', path: 'a.png', mimeType: 'image/png', data: 'aWFnZQ==' };
    expect(attachments()).toEqual([[sentImage, sentImage], undefined]);
  });

  it.each([
    ['a path', '/etc/passwd:'],
    ['an address', 'data:image/png;base64,aWFnZQ=='],
    ['nothing', ''],
    ['too much', 'a'.repeat(MOST_IMAGE + 4)],
  ])('%s is no image', async (_, data) => {
    await forge(image('a.png', data));
    expect(posted).toEqual([]);
  });

  it('images beyond what one message may have are refused, until others are taken away or the view is drawn anew', async () => {
    const large = 'a'.repeat(MOST_IMAGES / 3);
    const told = async (): Promise<string> => {
      posted.length = 0;
      await forge(image('a.png', large));
      return posted.map(({ type }) => type).join();
    };
    expect([await told(), await told(), await told(), await told()]).toEqual([
      'attached',
      'attached',
      'attached',
      'notice',
    ]);
    await forge({ type: 'detach', id: '2' });
    expect([await told(), await told()]).toEqual(['attached', 'notice']);
    await forge({ type: 'ready' });
    expect(await told()).toBe('attached');
  });

  it('files for a mention are offered at once, and symbols when they are found', async () => {
    const file = { name: 'par.py', path: '/w/par.py' };
    let find: (found: Completion[]) => void = () => undefined;
    symbols = async () => new Promise((resolve) => (find = resolve));
    const handled = forge({ type: 'complete', text: 'par' });
    await vi.waitFor(() => expect(posted).toEqual([{ type: 'completions', text: 'par', found: [file] }]));
    const symbol = { name: 'parse', path: '/w/par.py', line: 3 };
    find([symbol]);
    await handled;
    expect(posted.at(-1)).toEqual({ type: 'completions', text: 'par', found: [file, symbol] });
  });

  it('files that are found late for what was typed before do not take the place of the list', async () => {
    const found = new Map<string, (found: Completion[]) => void>();
    files = async (text) => new Promise((resolve) => found.set(text, resolve));
    const handled = ['p', 'pa', 'par'].map((text) => forge({ type: 'complete', text }));
    await vi.waitFor(() => expect(found.size).toBe(3));
    const file = { name: 'par.py', path: '/w/par.py' };
    for (const text of ['par', 'p', 'pa']) found.get(text)!([file]);
    await Promise.all(handled);
    expect(posted).toEqual([{ type: 'completions', text: 'par', found: [file] }]);
  });
});

describe('lists that are older than what arrived while they were on their way', () => {
  const resolved = { approvalId: 'a-plain', threadId: 't-1', state: 'allowed', by: 'user' } as const;
  const once = (method: string, act: () => void) => {
    meanwhile = (asked) => {
      if (asked !== method) return;
      meanwhile = undefined;
      act();
    };
  };

  it('a card that has ended does not come back', async () => {
    once('tool/pendingApprovals', () => desk.approvalResolved(resolved));
    await desk.refresh();
    expect(desk.approvals()).toEqual([]);
    expect(posted.at(-1)).toMatchObject({ type: 'snapshot', approvals: [] });
  });

  it('a new card, a title and a state of an agent stay', async () => {
    const [agent] = agents();
    once('tool/pendingApprovals', () => {
      desk.approvalRequested(fetchApproval());
      desk.agentChanged({ ...agent!, detail: 'it has changed' });
      desk.threadTitled({ threadId: 't-1', title: 'A new title' });
    });
    await desk.refresh();
    expect(desk.approvals().map(({ approvalId }) => approvalId)).toContain(fetchApproval().approvalId);
    expect(desk.agents().find(({ agentName }) => agentName === agent!.agentName)?.detail).toBe('it has changed');
    const snapshot = posted.at(-1);
    expect(snapshot?.type === 'snapshot' && snapshot.threads.find(({ threadId }) => threadId === 't-1')?.title).toBe(
      'A new title',
    );
  });

  it('two at once come one after the other, and the last counts', async () => {
    once('tool/pendingApprovals', () => void desk.refresh());
    await desk.refresh();
    expect(sent.filter(([method]) => method === 'tool/pendingApprovals').length).toBe(2);
    expect(posted.filter(({ type }) => type === 'snapshot').length).toBe(2);
  });

  it('a title that arrives while the chats are listed stays', async () => {
    once('thread/list', () => desk.threadTitled({ threadId: 't-1', title: 'A new title' }));
    await desk.handle({ type: 'threads' });
    const listed = posted.at(-1);
    expect(listed?.type === 'threads' && listed.threads.find(({ threadId }) => threadId === 't-1')?.title).toBe(
      'A new title',
    );
  });

  it('what arrives stays even where another list failed before', async () => {
    let go: () => void = () => undefined;
    late = (method) =>
      method === 'tool/pendingApprovals'
        ? new Promise((resolve) => (go = resolve))
        : method === 'thread/list'
          ? Promise.reject(new ServerError('the disk is full', undefined))
          : undefined;
    await expect(desk.refresh()).rejects.toThrow('the disk is full');
    desk.approvalResolved(resolved);
    go();
    await new Promise((resolve) => setTimeout(resolve));
    expect(desk.approvals()).toEqual([]);
  });

  it('a No to Auto shows the mode that counts by then', async () => {
    answers['thread/setMode'] = { mode: 'acceptEdits' };
    whileAsked = () => desk.handle({ type: 'setMode', threadId: 't-1', mode: 'acceptEdits' });
    await desk.handle({ type: 'setMode', threadId: 't-1', mode: 'auto' });
    const set = { type: 'modeSet', threadId: 't-1', mode: 'acceptEdits' };
    expect(posted).toEqual([set, set]);
  });

  it('a mode that another window has set is shown once the chat is opened', async () => {
    answers['thread/open'] = {
      threadId: 't-1',
      agentName: 'Countersign',
      mode: 'auto',
      seq: 0,
      events: [],
      approvals: [],
      running: false,
    };
    await desk.handle({ type: 'openThread', threadId: 't-1' });
    expect(posted).toContainEqual({ type: 'modeSet', threadId: 't-1', mode: 'auto' });
    desk.threadTitled({ threadId: 't-1', title: 'A new title' });
    const listed = posted.at(-1);
    expect(listed?.type === 'threads' && listed.threads.find(({ threadId }) => threadId === 't-1')?.mode).toBe('auto');
  });

  it('only the latest search in the history is shown', async () => {
    let go: () => void = () => undefined;
    late = (method) => (method === 'history/query' ? new Promise((resolve) => (go = resolve)) : undefined);
    const older = desk.handle({ type: 'history', text: 'old' });
    await vi.waitFor(() => expect(sent.some(([method]) => method === 'history/query')).toBe(true));
    late = undefined;
    await desk.handle({ type: 'history', text: 'new' });
    go();
    await older;
    expect(posted.filter(({ type }) => type === 'history').length).toBe(1);
  });
});
