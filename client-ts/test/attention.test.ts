/** Badge, status bar, notifications and the question without a webview. */
import { beforeEach, describe, expect, it } from 'vitest';

import { createAttention } from '../src/attention.ts';
import { createTexts } from '../src/editorText.ts';
import type { ToWebview } from '../src/messages.ts';
import type * as wire from '../src/wire.gen.ts';
import { diffApproval, fetchApproval, hostApproval, plainCommand } from './fixtures.ts';

let waiting: wire.ApprovalRequest[];
let visible: boolean;
let focused: boolean;
let ready: boolean;
let wanted: string;
let withSound: boolean;
let press: string | undefined;
let said: string[];
let answers: unknown[];
let posted: ToWebview[];
let badge: number;
let agents: wire.AgentView[];
let postponed: Set<string>;
let questions: wire.ElicitationRequest[];
let bypassed: string[] | undefined;
let tab: unknown[];
let inTab: boolean;
/** What the operating system has; and the ends of its notifications that stand, by a click or not. */
let system: 'none' | 'off' | 'shows' | 'clicks';
let ends: ((clicked: boolean) => void)[];

beforeEach(() => {
  [withSound, inTab, tab] = [false, false, []];
  [system, ends] = ['none', []];
  questions = [];
  [waiting, visible, focused, ready, wanted, press, said, answers, posted, badge, agents, bypassed, postponed] = [
    [],
    false,
    true,
    true,
    'away',
    undefined,
    [],
    [],
    [],
    0,
    [],
    undefined,
    new Set(),
  ];
});

function showOutside(text: string, button: string) {
  said.push(`system ${text} (${button})`);
  let end: (clicked: boolean) => void = () => undefined;
  const clicked = new Promise<boolean>((resolve) => (end = resolve));
  ends.push(end);
  return { clicked, close: () => (said.push('taken back'), end(false)) };
}

const make = () =>
  createAttention(
    {
      ...createTexts((message) => message),
      showStatus: (text, _tooltip, _command, urgent) => void said.push(`status ${text}${urgent ? ' urgent' : ''}`),
      showBypass: (text, tooltip, command) => void (bypassed = text && [text, tooltip, command]),
      setContext: () => undefined,
      notify: async (message) => (said.push(`note ${message}`), press),
      choose: async (message, detail, ...buttons) => (
        said.push(`modal ${message} | ${detail} | ${buttons.join(', ')}`),
        press
      ),
      pick: async (items) => (said.push(`pick ${items.map((item) => item.label).join(', ')}`), items[0]),
      windowFocused: () => focused,
      notifications: () => wanted,
      notificationSound: () => withSound,
      systemNotifications: () => system !== 'off',
      systemNotifier: {
        found: system === 'off' || system === 'none' ? { lack: 'desktop' } : { program: 'notify-send' },
        takesClicks: async () => system === 'clicks',
        show: (text, button) => (system === 'none' ? undefined : showOutside(text, button)),
        dispose: () => undefined,
      },
      raiseWindow: () => void said.push('raise'),
      tell: (_, message) => void said.push(`tell ${message}`),
      run: () => undefined,
    },
    {
      approvals: () => waiting,
      agents: () => agents,
      questions: () => questions,
      postponed: () => postponed,
      answer: async (answer) => void answers.push(answer),
    },
    {
      setBadge: (count) => void (badge = count),
      isVisible: () => visible,
      whenReady: async () => ready,
      postToView: (message) => void posted.push(message),
      postToVisible: (message) => void posted.push(message),
      showCardInTab: (threads, approvalId) => (tab.push([[...threads], approvalId]), inTab),
    },
  );
const settled = () => new Promise((resolve) => setImmediate(resolve));
const notes = () => said.filter((line) => line.startsWith('note'));

describe('a question of an agent', () => {
  const question = { elicitationId: 'q-1', threadId: 't-1', agentName: 'Asker', message: 'm', createdAt: '' };

  it('counts in badge and status bar, and is announced once, with a button that answers nothing', async () => {
    questions = [question];
    press = 'Show';
    const attention = make();
    attention.stateChanged('running');
    attention.approvalsChanged();
    await settled();
    expect(badge).toBe(1);
    expect(said).toContain('status $(shield) Asker: 1 waiting urgent');
    expect(notes()).toEqual(['note Asker asks a question']);
    expect(posted).toEqual([{ type: 'act', action: 'focus' }]);
    expect(answers).toEqual([]);
  });

  it('counts beside approvals', () => {
    questions = [question];
    waiting = [plainCommand()];
    make().stateChanged('running');
    expect(badge).toBe(2);
  });
});

describe('a request is announced', () => {
  const cases: [string, () => void, number][] = [
    ['when the view is hidden', () => undefined, 1],
    ['when the window has no focus', () => ([visible, focused] = [true, false]), 1],
    ['but not when it can be seen', () => (visible = true), 0],
    ['unless always wanted', () => ([visible, wanted] = [true, 'always']), 1],
    ['and never when never wanted', () => (wanted = 'never'), 0],
  ];
  it.each(cases)('%s', (_, given, count) => {
    given();
    const attention = make();
    waiting = [plainCommand()];
    attention.approvalsChanged();
    attention.approvalsChanged();
    expect([notes().length, badge]).toEqual([count, 1]);
  });
});

it('one notification covers all calls that an agent waits with, until all of them are answered', async () => {
  const attention = make();
  const call = (id: string, agentName = 'Countersign') => ({ ...plainCommand(), approvalId: id, agentName });
  waiting = [call('a'), call('b'), call('c', 'Claude Code')];
  attention.approvalsChanged();
  expect(notes()).toHaveLength(2);
  waiting = [...waiting, call('d')];
  attention.approvalsChanged();
  expect(notes()).toHaveLength(2);
  waiting = [call('c', 'Claude Code')];
  attention.approvalsChanged();
  waiting = [call('c', 'Claude Code'), call('e')];
  attention.approvalsChanged();
  expect(notes()).toHaveLength(3);
  await settled();
  // The person answered the notification: the next call gets a new one.
  waiting = [...waiting, call('f')];
  attention.approvalsChanged();
  expect(notes()).toHaveLength(4);
});

describe('a sound', () => {
  const call = (id: string, agentName = 'Countersign') => ({ ...plainCommand(), approvalId: id, agentName });
  const sounds = () => posted.filter(({ type }) => type === 'sound').length;

  const cases: [string, () => void, number][] = [
    ['is played when wanted, and the view can be seen in a window without focus', () => undefined, 1],
    ['whatever notifications are shown', () => (wanted = 'never'), 1],
    ['but not without the setting', () => (withSound = false), 0],
    ['nor in a window with focus', () => (focused = true), 0],
    ['nor where the view is hidden', () => (visible = false), 0],
    ['nor for what was put off', () => (waiting = [{ ...call('a'), postponed: true }]), 0],
  ];
  it.each(cases)('%s', (_, given, count) => {
    [visible, focused, withSound, waiting] = [true, false, true, [call('a')]];
    given();
    make().approvalsChanged();
    expect(sounds()).toBe(count);
  });

  it('is played once for each agent until everything that it asked is answered, also after its notification was answered', async () => {
    [visible, focused, withSound] = [true, false, true];
    const attention = make();
    const steps: [wire.ApprovalRequest[], number][] = [
      [[call('a')], 1],
      [[call('a'), call('b'), call('c', 'Claude Code')], 2],
      [[call('b'), call('d')], 2],
      [[], 2],
      [[call('e')], 3],
    ];
    for (const [now, count] of steps) {
      waiting = now;
      attention.approvalsChanged();
      await settled();
      expect([now.map(({ approvalId }) => approvalId), sounds()]).toEqual([
        now.map(({ approvalId }) => approvalId),
        count,
      ]);
    }
  });

  it('is not made up for when the window loses its focus later', () => {
    [visible, focused, withSound, waiting] = [true, true, true, [call('a')]];
    const attention = make();
    attention.approvalsChanged();
    focused = false;
    attention.approvalsChanged();
    expect(sounds()).toBe(0);
  });
});

it('a notification can deny and show, and never approves', async () => {
  const attention = make();
  waiting = [plainCommand()];
  press = 'Deny';
  attention.approvalsChanged();
  await settled();
  expect(answers).toEqual([{ approvalId: 'a-plain', digest: 'd-plain', optionId: 'reject_once' }]);
  waiting = [fetchApproval()];
  press = 'Review';
  attention.approvalsChanged();
  await settled();
  expect([answers.length, posted]).toEqual([1, [{ type: 'act', action: 'focus', approvalId: 'a-fetch' }]]);
});

it('a notification leads to its own card, in the tab of its chat or the view, and without them asks about that alone', async () => {
  for (const place of ['tab', 'view', 'nowhere'] as const) {
    [said, posted, ready, tab, press] = [[], [], place !== 'nowhere', [], 'Review'];
    // Another agent's, which was there before and is not told of again.
    waiting = [
      { ...plainCommand(), agentName: 'Claude Code', postponed: true },
      { ...fetchApproval(), threadId: 't-2' },
    ];
    inTab = place === 'tab';
    make().approvalsChanged();
    await settled();
    expect(tab).toEqual([[['t-2'], 'a-fetch']]);
    expect(posted).toEqual(place === 'view' ? [{ type: 'act', action: 'focus', approvalId: 'a-fetch' }] : []);
    expect(said.some((line) => line.startsWith('pick'))).toBe(false);
    expect(said.filter((line) => line.startsWith('modal')).length).toBe(place === 'nowhere' ? 1 : 0);
  }
});

it('a broken ledger stands in the status bar until it is whole again', () => {
  const attention = make();
  attention.stateChanged('running');
  for (const state of ['broken', 'whole'] as const) attention.ledgerChanged({ state });
  expect(said.filter((line) => line.startsWith('status'))).toEqual([
    'status $(shield)',
    'status $(shield) $(warning) urgent',
    'status $(shield)',
  ]);
});

describe('without a webview', () => {
  beforeEach(() => {
    ready = false;
    wanted = 'never';
  });

  it('the whole subject stands in a modal, and what is pressed is answered', async () => {
    waiting = [plainCommand(), fetchApproval()];
    press = 'Approve';
    await make().review();
    expect(said.filter((line) => !line.startsWith('status'))).toEqual([
      'pick Run shell command?, Fetch docs.python.org?',
      'modal Countersign: Run shell command? | npm run test -- --watch=false\n(/home/me/proj)\n\nno rule matches. Default mode asks before commands | Deny, Approve',
    ]);
    expect(answers).toEqual([{ approvalId: 'a-plain', digest: 'd-plain', optionId: 'allow_once' }]);
  });

  it('closing it answers nothing', async () => {
    waiting = [plainCommand()];
    await make().review();
    expect(answers).toEqual([]);
  });

  it.each([
    [
      'an edit that is too large to be drawn',
      () => ({ ...diffApproval(), preview: { ...diffApproval().preview, tooLarge: true } as wire.DiffPreview }),
    ],
    ['what an approval would keep for the chat', hostApproval],
  ])('%s cannot be approved there', async (_, approval) => {
    waiting = [approval()];
    press = 'Approve';
    await make().review();
    expect(said.at(-1)).toMatch(/\| Deny$/s);
    expect(answers).toEqual([]);
  });

  it('what is too long to be shown whole cannot be approved there', async () => {
    waiting = [plainCommand({ preview: { kind: 'command', command: 'x'.repeat(3000), cwd: '/', parts: [] } })];
    press = 'Approve';
    await make().review();
    expect(said.at(-1)).toMatch(/Too long to be shown whole.*\| Deny$/s);
  });
});

it('an agent that acts without asking stands in the status bar until it asks again', () => {
  const attention = make();
  const agent = (agentName: string, bypass: boolean): wire.AgentView => ({
    agentName,
    type: 'acp',
    state: 'idle',
    label: 'gated',
    bypass,
    default: false,
  });
  agents = [agent('Claude', true), agent('Codex', false)];
  attention.approvalsChanged();
  expect(bypassed).toEqual([
    '$(warning) Claude: permissions bypassed',
    'Acts without asking you: Claude. Press to turn that off.',
    'countersign.endBypass',
  ]);
  agents = [agent('Claude', true), agent('Codex', true)];
  attention.approvalsChanged();
  expect(bypassed?.slice(0, 2)).toEqual([
    '$(warning) 2 agents: permissions bypassed',
    'Acts without asking you: Claude, Codex. Press to turn that off.',
  ]);
  agents = [agent('Claude', false)];
  attention.approvalsChanged();
  expect(bypassed).toBeUndefined();
});

it('the status bar says what matters most', () => {
  const attention = make();
  attention.stateChanged('starting');
  attention.stateChanged('running');
  waiting = [plainCommand(), fetchApproval()];
  attention.approvalsChanged();
  // What was put off still counts, in a calmer color.
  postponed = new Set(['a-plain']);
  attention.approvalsChanged();
  postponed = new Set(['a-plain', 'a-fetch']);
  attention.approvalsChanged();
  // Of one agent it says which; its name stays text, and short.
  waiting = [plainCommand()];
  attention.approvalsChanged();
  waiting = [{ ...plainCommand(), agentName: `$(zap)${'x'.repeat(100)}` }];
  attention.approvalsChanged();
  attention.stateChanged('stopped', 'no Python was found');
  expect(said.filter((line) => line.startsWith('status'))).toEqual([
    'status $(shield) $(loading~spin)',
    'status $(shield)',
    'status $(shield) 2 approvals urgent',
    'status $(shield) 2 approvals urgent',
    'status $(shield) 2 approvals',
    'status $(shield) Countersign: 1 approval',
    `status $(shield) $ (zap)${'x'.repeat(22)}…: 1 approval`,
    'status $(shield) $(warning) urgent',
  ]);
});

describe('a notification of the operating system', () => {
  const call = (id: string, agentName = 'Countersign') => ({ ...plainCommand(), approvalId: id, agentName });
  const shown = () => said.filter((line) => /^(note|system|taken back|raise)/.test(line));
  const outside = 'system Countersign waits for you (Review)';
  const toast = 'note Countersign: Run shell command?';

  const cases: [string, () => void, string[]][] = [
    ['is shown while the window has no focus, and holds nothing of the command', () => undefined, [outside]],
    ['also when the view can be seen in it', () => (visible = true), [outside]],
    ['but not in a window with focus, where the editor shows one', () => (focused = true), [toast]],
    ['nor where it is off', () => (system = 'off'), [toast]],
    ['nor where there is none', () => (system = 'none'), [toast]],
    ['nor where none is wanted', () => (wanted = 'never'), []],
    ['nor for what was put off', () => (waiting = [{ ...call('a'), postponed: true }]), []],
  ];
  it.each(cases)('%s', (_, given, expected) => {
    [focused, system, waiting] = [false, 'clicks', [call('a')]];
    given();
    make().approvalsChanged();
    expect(shown()).toEqual(expected);
  });

  it('is one for each agent, and is taken back when everything was answered elsewhere', async () => {
    [focused, system, waiting] = [false, 'clicks', [call('a'), call('b'), call('c', 'Claude Code')]];
    const attention = make();
    attention.approvalsChanged();
    waiting = [call('b'), call('c', 'Claude Code'), call('d')];
    attention.approvalsChanged();
    await settled();
    expect(shown()).toEqual([outside, 'system Claude Code waits for you (Review)']);
    waiting = [call('c', 'Claude Code')];
    attention.approvalsChanged();
    await settled();
    expect(shown().slice(2)).toEqual(['taken back']);
    waiting = [call('c', 'Claude Code'), call('e')];
    attention.approvalsChanged();
    expect(shown().slice(3)).toEqual([outside]);
  });

  it('leads to its card by one click, or to the next of its agent if that was answered meanwhile', async () => {
    for (const [still, leadsTo] of [
      ['a', 'a'],
      ['b', 'b'],
    ]) {
      [focused, system, waiting, said, posted, ends] = [false, 'clicks', [call('a')], [], [], []];
      const attention = make();
      attention.approvalsChanged();
      waiting = [call(still!)];
      attention.approvalsChanged();
      ends[0]!(true);
      await settled();
      expect(shown()).toEqual([outside, 'raise']);
      expect(posted).toEqual([{ type: 'act', action: 'focus', approvalId: leadsTo }]);
      expect(answers).toEqual([]);
    }
  });

  it('of a question names the agent, and leads to it', async () => {
    [focused, system] = [false, 'clicks'];
    questions = [{ elicitationId: 'q-1', threadId: 't-1', agentName: 'Asker', message: 'm', createdAt: '' }];
    make().approvalsChanged();
    ends[0]!(true);
    await settled();
    expect(shown()).toEqual(['system Asker waits for you (Review)', 'raise']);
    expect(posted).toEqual([{ type: 'act', action: 'focus' }]);
  });

  it('that ends without a click leaves the editor’s own, which has buttons', async () => {
    [focused, system, waiting] = [false, 'shows', [call('a')]];
    const attention = make();
    attention.approvalsChanged();
    ends[0]!(false);
    await settled();
    attention.approvalsChanged();
    expect(shown()).toEqual([outside, toast]);
  });

  const words: [string, () => void, RegExp][] = [
    [
      'the operating system’s, with clicks',
      () => (system = 'clicks'),
      /^tell The operating system .* leads to the card/,
    ],
    [
      'the operating system’s, without clicks',
      () => (system = 'shows'),
      /^tell The operating system .* with buttons, too/,
    ],
    ['the editor’s, by setting', () => (system = 'off'), /^tell The editor .* off in your settings/],
    ['the editor’s, for want of a desktop', () => (system = 'none'), /^tell The editor .* without a desktop/],
    ['none', () => (wanted = 'never'), /^tell Notifications are off/],
  ];
  it.each(words)('the command says which notifications are in force: %s', async (_, given, expected) => {
    given();
    await make().tryNotification();
    expect(said.at(-1)).toMatch(expected);
  });
});
