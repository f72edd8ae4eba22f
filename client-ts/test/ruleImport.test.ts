/** Permissions of other programs: nothing is saved that was not ticked and confirmed. */
import { beforeEach, describe, expect, it } from 'vitest';

import type { Question } from '../src/approvals.ts';
import { createTexts } from '../src/editorText.ts';
import { importPlaces } from '../src/importPlaces.ts';
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
let places: { product: string; path: string }[];
let choice: number;
let asks: string[];

beforeEach(() => {
  [sent, rows, asked, says, found] = [[], [], [], true, FOUND];
  ticks = () => true;
  [places, choice, asks] = [[], 0, []];
});

const run = (): Promise<void> => {
  const host: RuleImportHost = {
    ...createTexts((message) => message),
    filesToImport: async () => places,
    chooseFile: async () => (asks.push('another'), '/elsewhere/settings.json'),
    pick: async (items, question) => (
      asks.push(`${question} ${items.map(({ label, description }) => `${label} (${description ?? ''})`).join(', ')}`),
      items[choice]
    ),
    surroundings: () => ({ workspace: '/w', home: '/home/me' }),
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

describe('the file', () => {
  const files = (): unknown[] =>
    sent.filter(([method]) => method === 'rule/import').map(([, params]) => (params as { file: string }).file);
  const two = [
    { product: 'Claude Code', path: '/w/.claude/settings.json' },
    { product: 'Codex', path: '/home/me/.codex/rules/default.rules' },
  ];
  const question =
    'Take over the permissions of which file? .claude/settings.json (Claude Code), ~/.codex/rules/default.rules (Codex), Another file… ()';

  it.each<[string, typeof two, number, string[], string[]]>([
    ['is one that was found in its usual place', two, 1, ['/home/me/.codex/rules/default.rules'], [question]],
    ['or another', two, 2, ['/elsewhere/settings.json'], [question, 'another']],
    ['or none, where that is closed', two, 9, [], [question]],
    ['and is chosen at once where none was found', [], 0, ['/elsewhere/settings.json'], ['another']],
  ])('%s', async (_, given, pressed, read, questions) => {
    [places, choice] = [given, pressed];
    await run();
    expect([files(), asks]).toEqual([read, questions]);
  });

  it('is looked for where each program keeps its own, as its variables say', () => {
    const at = (environment: Record<string, string>): string[] =>
      importPlaces({ workspace: '/w', home: '/h', userFolder: '/u', environment }).map((one) => one.path);
    expect(at({})).toEqual([
      '/w/.claude/settings.json',
      '/w/.claude/settings.local.json',
      '/h/.claude/settings.json',
      '/w/.codex/rules',
      '/h/.codex/rules',
      '/w/.gemini/policies',
      '/h/.gemini/policies',
      '/w/.vscode/settings.json',
      '/u/settings.json',
    ]);
    expect(at({ CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x' })).toEqual(
      expect.arrayContaining(['/c/settings.json', '/x/rules']),
    );
    expect(importPlaces({ workspace: undefined, home: '/h', userFolder: '/u', environment: {} })).toHaveLength(4);
  });
});
