/** Permissions of other programs: nothing is saved that was not ticked and confirmed. */
import { beforeEach, expect, it } from 'vitest';

import type { Question } from '../src/approvals.ts';
import { createTexts } from '../src/editorText.ts';
import { importRules, type RuleImportHost } from '../src/ruleImport.ts';
import type * as wire from '../src/wire.gen.ts';

const FOUND: wire.RuleImportResult = {
  format: 'claudeCode',
  rules: [
    { list: 'deny', rule: 'Bash(rm:*)', scopes: ['workspace', 'user'], original: 'Bash(rm:*)' },
    { list: 'allow', rule: 'Bash(ls:*)', scopes: ['workspace'], original: 'Bash(ls:*)' },
    { list: 'allow', rule: 'Bash(pwd)', scopes: [], original: 'Bash(pwd)' },
  ],
  leftOut: [{ original: 'Agent(x)', reason: 'it means more here' }],
};
let sent: [string, unknown][];
let rows: string[];
let asked: Question[];
let says: boolean;
let ticks: (label: string) => boolean;
let found: wire.RuleImportResult;

beforeEach(() => {
  [sent, rows, asked, says, found] = [[], [], [], true, FOUND];
  ticks = () => true;
});

const run = (): Promise<void> => {
  const host: RuleImportHost = {
    ...createTexts((message) => message),
    chooseFile: async () => '/w/.claude/settings.json',
    pickMany: async (items) => {
      expect(items.filter(({ picked }) => picked)).toEqual([]);
      rows = items.map(({ label }) => label);
      return items.filter(({ label }) => ticks(label));
    },
    confirm: async (question) => (asked.push(question), says),
    tell: () => undefined,
  };
  const request = async (method: string, params: unknown): Promise<never> => {
    sent.push([method, params]);
    return found as never;
  };
  return importRules({ request }, host);
};
const added = (): unknown[] => sent.filter(([method]) => method === 'rule/add').map(([, params]) => params);

it('adds what was ticked and confirmed, for the usual scope, and shows what is left out', async () => {
  await run();
  expect(rows).toEqual(['deny: Bash(rm:*)', 'allow: Bash(ls:*)', 'left out: Bash(pwd)', 'left out: Agent(x)']);
  expect(asked[0]!.detail).toContain('Bash(ls:*)');
  expect(added()).toEqual([
    { list: 'deny', rule: 'Bash(rm:*)', scope: 'workspace' },
    { list: 'allow', rule: 'Bash(ls:*)', scope: 'workspace' },
  ]);
});

it.each([
  ['nothing was ticked', () => void (ticks = () => false)],
  ['only what is left out was ticked', () => void (ticks = (label) => label.startsWith('left out'))],
  ['it was not confirmed', () => void (says = false)],
  [
    'they cannot be shown whole',
    () => void (found = { ...FOUND, rules: [{ ...FOUND.rules[1]!, rule: `Bash(${'x'.repeat(3000)})` }] }),
  ],
])('adds nothing where %s', async (_, change) => {
  change();
  await run();
  expect(added()).toEqual([]);
});
