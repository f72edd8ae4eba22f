/** Logging in to an agent: a command runs only after it was shown whole and confirmed, and it is the one that was shown. */
import { beforeEach, expect, it } from 'vitest';

import { type LoginHost, logIn, openLoginLink } from '../src/agentLogin.ts';
import type { Question } from '../src/approvals.ts';
import { createTexts } from '../src/editorText.ts';
import type * as wire from '../src/wire.gen.ts';

const BROWSER: wire.LoginMethod = { methodId: 'browser', name: 'In the $(zap) browser', description: 'opens a page' };
const KEYS: wire.LoginMethod = {
  methodId: 'key',
  name: 'API key',
  keys: [
    { name: 'MORE', secret: 'agents.It/MORE', origin: '/opt/agent', optional: true },
    { name: 'KEY', secret: 'agents.It/KEY', origin: '/opt/agent' },
  ],
};
const SHELL: wire.LoginMethod = { methodId: 'shell', name: 'In a terminal', command: ['/opt/agent', 'log in'] };

let did: unknown[];
let asked: Question[];
let rows: string[];
let says: boolean;
let fails: Error | undefined;
let again: boolean;
let code: number | undefined;
let entered: ('kept' | 'removed' | undefined)[];

beforeEach(() => {
  [did, asked, rows, says, fails, again] = [[], [], [], true, undefined, false];
  entered = ['kept', 'kept'];
  code = 0;
});

async function run(login: wire.LoginMethod[] | undefined, choice = 0): Promise<void> {
  const host: LoginHost = {
    ...createTexts((message) => message),
    pick: async (items) => {
      rows = items.map(({ label, description, detail }) => [label, description, detail].join(' | '));
      return items[choice];
    },
    confirm: async (question) => (asked.push(question), says),
    tell: (level, message) => void did.push([level, message]),
    showWork: async (_, work) => work(() => undefined),
    enterKey: async (agentName, key) => (did.push(['key', agentName, key.name]), entered.shift()),
    runInTerminal: async (_, command) => (did.push(['terminal', command]), code),
  };
  const request = async (method: string, params: unknown): Promise<never> => {
    did.push([method, params]);
    if (fails) throw fails;
    return {} as never;
  };
  const agent: wire.AgentView = {
    agentName: 'It',
    type: 'acp',
    state: 'needsLogin',
    label: 'gated',
    bypass: false,
    default: false,
    ...(login && { login }),
  };
  await logIn({ request }, host, agent, () => again);
}

it('after the login nothing is asked of the person where the message was sent again', async () => {
  again = true;
  await run([BROWSER]);
  expect(did).toEqual([['agent/login', { agentName: 'It', methodId: 'browser' }]]);
});

it('the agent logs in itself where it offers that', async () => {
  await run([BROWSER]);
  expect(asked).toEqual([]);
  expect(did).toEqual([
    ['agent/login', { agentName: 'It', methodId: 'browser' }],
    ['info', 'You can send messages to It now.'],
  ]);
});

it('keys are entered, then the agent is logged in with them and the message is sent again', async () => {
  again = true;
  entered = ['removed', 'kept'];
  await run([BROWSER, KEYS], 1);
  expect(rows[1]).toBe('API key | Set Key | ');
  expect(did).toEqual([
    ['key', 'It', 'MORE'],
    ['key', 'It', 'KEY'],
    ['agent/login', { agentName: 'It', methodId: 'key' }],
  ]);
});

it.each([
  ['the form of an optional key was closed', [undefined]],
  ['a key was removed', ['kept', 'removed']],
  ['the form was closed', ['kept', undefined]],
] as [string, typeof entered][])('nobody is logged in where %s', async (_, answers) => {
  entered = [...answers];
  await run([KEYS]);
  expect(did).toHaveLength(answers.length);
});

it('a terminal runs what was shown, word by word, and then the agent is restarted', async () => {
  await run([BROWSER, SHELL], 1);
  expect(rows).toEqual(['In the $ (zap) browser |  | opens a page', 'In a terminal | in a terminal | ']);
  expect(asked[0]!.detail).toContain('/opt/agent\nlog in');
  expect(did.slice(0, 2)).toEqual([
    ['terminal', ['/opt/agent', 'log in']],
    ['agent/restart', { agentName: 'It' }],
  ]);
});

it.each([
  [undefined, true],
  [0, true],
  [1, false],
])('after a terminal that ended with %s the agent is started anew: %s', async (ended, restarted) => {
  [code, again] = [ended, true];
  await run([SHELL]);
  expect(did.some((one) => (one as string[])[0] === 'agent/restart')).toBe(restarted);
  expect(did.some((one) => (one as string[])[0] === 'warning')).toBe(!restarted);
});

it.each([
  ['no method is offered', undefined, 0, true],
  ['the list was closed', [BROWSER, SHELL], -1, true],
  ['the modal was closed', [SHELL], 0, false],
  ['the command cannot be shown whole', [{ ...SHELL, command: ['x'.repeat(3000)] }], 0, true],
] as [string, wire.LoginMethod[] | undefined, number, boolean][])(
  'nothing is run or asked where %s',
  async (_, login, choice, answer) => {
    says = answer;
    await run(login, choice);
    expect(did.filter((one) => !['info', 'error'].includes((one as string[])[0]!))).toEqual([]);
  },
);

it('a login that fails shows why', async () => {
  fails = new Error('no browser');
  await run([BROWSER]);
  expect(did.at(-1)).toEqual(['error', 'no browser']);
});

it('the page of a login is opened as the server gave it, and only while it is offered', async () => {
  const url = 'https://keys.example/%41?a=b';
  const host = {
    ...createTexts((message) => message),
    tell: (level: string, message: string) => void did.push([level, message]),
    openLink: async (href: string) => (did.push(['open', href]), true),
  };
  const agent = { login: [BROWSER, { ...KEYS, link: { url, host: 'keys.example' } }] } as wire.AgentView;
  await openLoginLink(host, agent, 'key');
  await openLoginLink(host, agent, 'browser');
  await openLoginLink(host, undefined, 'key');
  const gone = ['info', 'This login is no longer offered; nothing was opened.'];
  expect(did).toEqual([['open', url], gone, gone]);
});
