/** Add Agent…: nothing is written that was not shown and confirmed, and nothing is installed. */
import { beforeEach, expect, it } from 'vitest';

import { addAgent, type AddAgentHost } from '../src/agentAdd.ts';
import type { Question } from '../src/approvals.ts';
import { createTexts } from '../src/editorText.ts';
import type * as wire from '../src/wire.gen.ts';

const INSTALLED: wire.KnownAgent = {
  recipe: 'mine',
  title: 'My Agent',
  installed: { path: '/opt/bin/mine', version: '1.2.3' },
  command: ['/opt/bin/mine', '--acp'],
  install: 'npm install -g mine@1.2.3',
  login: 'mine login',
  label: 'gated',
  why: 'every call asked',
  missing: ['node'],
  configured: [],
};
const ABSENT: wire.KnownAgent = { ...INSTALLED, recipe: 'other', title: 'Other' };
delete ABSENT.installed;
delete ABSENT.command;

let known: wire.KnownAgent[];
let sent: [string, unknown][];
let rows: string[];
let asked: Question[];
let said: string[];
let says: boolean;
let choice: number | undefined;
let fails: Error | undefined;

beforeEach(() => {
  known = [INSTALLED, ABSENT];
  [sent, rows, asked, said, says, choice, fails] = [[], [], [], [], true, 0, undefined];
});

const run = (): Promise<void> => {
  const host: AddAgentHost = {
    ...createTexts((message) => message),
    pick: async (items) => {
      rows = items.map(({ label, description, detail }) => [label, description, detail].join(' | '));
      return choice === undefined ? undefined : items[choice];
    },
    confirm: async (question) => (asked.push(question), says),
    copy: async (text) => void said.push(`copied ${text}`),
    tell: (level, message) => void said.push(`${level}: ${message}`),
  };
  const request = async (method: string, params: unknown): Promise<never> => {
    sent.push([method, params]);
    if (fails) throw fails;
    return (method === 'agent/known' ? { agents: known } : { agentName: 'My Agent' }) as never;
  };
  return addAgent({ request }, host);
};

it('writes the command that the modal showed, with label, reason and what else is needed', async () => {
  await run();
  expect(rows).toEqual([
    'My Agent | 1.2.3 · gated | every call asked',
    'Other | not installed | Install: npm install -g mine@1.2.3',
  ]);
  for (const part of ['/opt/bin/mine\n--acp', 'gated: every call asked', 'mine login', 'node'])
    expect(asked[0]!.detail).toContain(part);
  expect(sent.at(-1)).toEqual(['agent/add', { recipe: 'mine', command: ['/opt/bin/mine', '--acp'] }]);
  expect(said.join()).toContain('My Agent is added');
});

it.each([
  ['the list was closed', () => void (choice = undefined)],
  ['the modal was closed', () => void (says = false)],
  ['it is not installed', () => void (choice = 1)],
  ['its command cannot be shown whole', () => void (known = [{ ...INSTALLED, command: ['/x', 'y'.repeat(3000)] }])],
  ['the server failed', () => void (fails = new Error('it took too long'))],
])('writes nothing where %s', async (_, change) => {
  change();
  await run();
  expect(sent.filter(([method]) => method === 'agent/add')).toEqual([]);
});

it('an agent that is not installed comes with its command as text', async () => {
  choice = 1;
  await run();
  expect(asked[0]!.detail).toContain('npm install -g mine@1.2.3');
  expect(said).toEqual(['copied npm install -g mine@1.2.3']);
});

it('an agent that the settings have says so, and names of others are neutralized', async () => {
  known = [{ ...INSTALLED, title: '[x](command:y) $(zap)', configured: ['Mine'] }];
  await run();
  expect(rows[0]).toContain('added already, as Mine');
  expect(rows[0]).not.toMatch(/\]\(|\$\(/);
  expect(asked[0]!.detail).toContain('as Mine');
});
