/** Who counts as having confirmed a value of the workspace, and what the dialog about it says. */
import { beforeEach, describe, expect, it } from 'vitest';

import { type Confirmations, createConfirmations, describe as describeItem } from '../src/confirmations.ts';
import { createTexts } from '../src/editorText.ts';
import type * as wire from '../src/wire.gen.ts';

const FILE = '/w/.vscode/settings.json';
const OTHER = '/w/sub/.vscode/settings.json';
const bypass: wire.UnconfirmedItem = {
  key: 'countersign.agents.Claude.bypassPermissions',
  value: true,
  file: FILE,
  line: 3,
  digest: 'bypass',
  text: 'Claude runs every tool without asking',
};
const rule: wire.UnconfirmedItem = {
  key: 'countersign.permissions.allow',
  value: 'Bash(npm test)',
  file: FILE,
  line: 4,
  digest: 'rule',
  text: 'it would run',
};
const agent: wire.UnconfirmedItem = {
  key: 'countersign.agents.Claude',
  value: { command: 'claude-acp', args: ['--acp'] },
  file: FILE,
  digest: 'agent',
  text: 'the agent',
};
const texts = createTexts((message) => message);

let confirmed: wire.SettingsConfirmParams[];
let asked: { message: string; detail: string; buttons: string[] }[];
let press: string | undefined;
let trusted: boolean;
let onAsked: () => void;

const make = (): Confirmations =>
  createConfirmations(
    { request: async (_, params) => void confirmed.push(params as wire.SettingsConfirmParams) as never },
    {
      ...texts,
      choose: async (message, detail, ...buttons) => {
        asked.push({ message, detail, buttons });
        onAsked();
        return press;
      },
      tell: () => undefined,
      openFile: async () => undefined,
      trusted: () => trusted,
    },
  );
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A save by the person, by the editor itself, or one whose reason nobody saw. */
function save(it: Confirmations, file: string, text: string, how: 'manual' | 'auto' | 'unseen' = 'manual'): void {
  if (how !== 'unseen') it.willSave(file, text, how === 'manual');
  it.saved(file, text);
}

beforeEach(() => {
  confirmed = [];
  asked = [];
  press = undefined;
  trusted = true;
  onAsked = () => undefined;
});

describe('a value of the workspace', () => {
  it('is asked about once, and the answer is sent', async () => {
    const confirmations = make();
    press = 'Accept';
    confirmations.unconfirmed({ items: [bypass] });
    await settled();
    confirmations.unconfirmed({ items: [bypass] });
    await settled();
    expect([asked.length, confirmed]).toEqual([1, [{ digest: 'bypass', accept: true }]]);
  });

  it('that left and came back is asked about again', async () => {
    const confirmations = make();
    press = 'Accept';
    for (const items of [[bypass], [], [bypass]]) {
      confirmations.unconfirmed({ items });
      await settled();
    }
    expect(asked).toHaveLength(2);
  });

  it('that is refused stays refused', async () => {
    press = 'Keep Ignoring';
    make().unconfirmed({ items: [bypass] });
    await settled();
    expect(confirmed).toEqual([{ digest: 'bypass', accept: false }]);
  });

  it('that is put off sends nothing and comes back when wanted', async () => {
    const confirmations = make();
    confirmations.unconfirmed({ items: [bypass, rule] });
    await settled();
    expect([asked.length, confirmed]).toEqual([1, []]);
    await confirmations.review();
    expect(asked).toHaveLength(2);
  });

  it('that changed while its dialog stood is not confirmed by it', async () => {
    const confirmations = make();
    press = 'Accept';
    onAsked = () => confirmations.unconfirmed({ items: [] });
    confirmations.unconfirmed({ items: [bypass] });
    await settled();
    expect([asked.length, confirmed]).toEqual([1, []]);
  });

  it('is not asked about while the workspace is not trusted', async () => {
    trusted = false;
    make().unconfirmed({ items: [bypass] });
    await settled();
    expect(asked).toEqual([]);
  });
});

describe('a value that the person may have typed', () => {
  const empty = '{}';
  const entry =
    '"countersign.agents": {"Claude": {"command": "claude-acp", "args": ["--acp"], "bypassPermissions": true}}';
  const allow = '"countersign.permissions.allow": ["Bash(npm test)"]';
  const all = `{${entry}, ${allow}}`;
  const at = (text: string) => (it: Confirmations) => it.loaded(FILE, text);
  const by =
    (text: string, how?: 'manual' | 'auto' | 'unseen', file = FILE) =>
    (it: Confirmations) =>
      save(it, file, text, how);

  const cases: [string, wire.UnconfirmedItem[], ((it: Confirmations) => void)[], string[]][] = [
    ['typed into an empty object', [bypass, rule, agent], [at(empty), by(all)], ['bypass', 'rule', 'agent']],
    ['typed into an empty file', [rule], [at(''), by(`{${allow}}`)], ['rule']],
    [
      'a rule behind another',
      [rule],
      [
        at('{"countersign.permissions.allow": ["Bash(ls)"]}'),
        by('{"countersign.permissions.allow": ["Bash(ls)", "Bash(npm test)"]}'),
      ],
      ['rule'],
    ],
    [
      'a rule before another',
      [{ ...rule, value: 'Read(x)' }],
      [
        at('{"countersign.permissions.allow": ["Bash(ls)"]}'),
        by('{"countersign.permissions.allow": ["Read(x)", "Bash(ls)"]}'),
      ],
      ['rule'],
    ],
    [
      'false turned into true',
      [bypass],
      [
        at('{"countersign.agents": {"Claude": {"bypassPermissions": false}}}'),
        by('{"countersign.agents": {"Claude": {"bypassPermissions": true}}}'),
      ],
      ['bypass'],
    ],
    [
      'nested keys',
      [rule],
      [at(empty), by('{"countersign": {"permissions": {"allow": ["Bash(npm test)"]}}}')],
      ['rule'],
    ],

    ['came from disk, whatever else was saved', [bypass], [at(all), by(`${all} `)], []],
    ['was written by a tool under the open file', [bypass], [at(empty), at(all), by(`${all}\n`)], []],
    ['saved by auto save', [bypass], [at(empty), by(all, 'auto')], []],
    ['saved for a reason that nobody saw', [bypass], [at(empty), by(all, 'unseen')], []],
    [
      'a manual save that failed, and then another one',
      [rule],
      [at(empty), (it) => it.willSave(FILE, '{}', true), by(`{${allow}}`, 'unseen')],
      [],
    ],
    [
      'a manual save whose text was changed while saving',
      [rule],
      [at(empty), (it) => it.willSave(FILE, `{${allow}}`, true), (it) => it.changed(FILE), by(`{${allow}}`, 'unseen')],
      [],
    ],
    ['a file that was never seen on disk', [bypass], [by(all)], []],
    ['typed, then written over from disk', [bypass], [at(empty), by(all), at(`${all}\n\n`)], []],
    ['another value typed', [rule], [at(empty), by('{"countersign.permissions.allow": ["Bash(ls)"]}')], []],
    [
      'an agent whose bypass alone was typed',
      [agent],
      [at('{"countersign.agents": {"Claude": {"command": "claude-acp", "args": ["--acp"]}}}'), by(`{${entry}}`)],
      [],
    ],
    [
      'an agent whose cwd alone was typed',
      [{ ...agent, value: { command: './run', cwd: '/w/new' } }],
      [
        at('{"countersign.agents": {"Claude": {"command": "./run"}}}'),
        by('{"countersign.agents": {"Claude": {"command": "./run", "cwd": "/w/new"}}}'),
      ],
      [],
    ],
    [
      'an environment whose value alone was typed',
      [{ ...agent, value: { env: { LD_PRELOAD: './x.so' } } }],
      [
        at('{"countersign.agents": {"Claude": {"env": {"LD_PRELOAD": ""}}}}'),
        by('{"countersign.agents": {"Claude": {"env": {"LD_PRELOAD": "./x.so"}}}}'),
      ],
      [],
    ],
    ['a closed file', [bypass], [at(empty), by(all), (it) => it.closed(FILE)], []],
    [
      'typed into another settings file',
      [rule],
      [at(empty), (it) => it.loaded(OTHER, empty), by(all, 'manual', OTHER)],
      [],
    ],
    ['an item without a file', [{ ...rule, file: undefined }], [at(empty), by(all)], []],
    [
      'left in the editor by our own edit that was not saved',
      [rule],
      [at(empty), (it) => it.editedByUs(FILE), (it) => it.changed(FILE), by(all)],
      [],
    ],
    [
      'brought back by undo',
      [rule],
      [
        at(empty),
        by(`{${allow}}`),
        (it) => it.unconfirmed({ items: [rule] }),
        (it) => it.unconfirmed({ items: [] }),
        by(empty),
        by(`{${allow}}`),
      ],
      ['rule'],
    ],
    // Text that was there and did not count, until a person mended something else.
    ['under a stray first line', [rule], [at(`x\n{${allow}}`), by(`{${allow}}`)], []],
    ['in an array', [rule], [at(`[{${allow}}]`), by(`{${allow}}`)], []],
    ['behind a comment that was not closed', [rule], [at(`{/* ${allow}}`), by(`{/* */ ${allow}}`)], []],
    ['in a comment', [rule], [at(`{// ${allow}\n}`), by(`{${allow}\n}`)], []],
    [
      'in a comment, with escapes',
      [rule],
      [
        at('{// "countersign.permissions.allow": ["\\u0042ash(npm test)"]\n}'),
        by('{"countersign.permissions.allow": ["\\u0042ash(npm test)"]\n}'),
      ],
      [],
    ],
    [
      'a bypass in a comment',
      [bypass],
      [
        at('{"countersign.agents": {"Claude": {/* "bypassPermissions": true */}}}'),
        by('{"countersign.agents": {"Claude": {"bypassPermissions": true}}}'),
      ],
      [],
    ],
    ['before a later duplicate', [rule], [at(`{${allow}, "countersign.permissions.allow": []}`), by(`{${allow}}`)], []],
    [
      'before a later null',
      [rule],
      [
        at(`{"countersign.permissions": {"allow": ["Bash(npm test)"]}, "countersign": {"permissions": null}}`),
        by('{"countersign.permissions": {"allow": ["Bash(npm test)"]}}'),
      ],
      [],
    ],
    ['in a language block', [rule], [at(`{"[python]": {${allow}}}`), by(`{${allow}}`)], []],
    [
      'under a misspelled key',
      [rule],
      [
        at('{"countersign.permission.allow": ["Bash(npm test)"]}'),
        by('{"countersign.permissions.allow": ["Bash(npm test)"]}'),
      ],
      [],
    ],
    [
      'with a letter too many',
      [rule],
      [
        at('{"countersign.permissions.allow": ["Bash(npm xtest)"]}'),
        by('{"countersign.permissions.allow": ["Bash(npm test)"]}'),
      ],
      [],
    ],
    [
      'in a list of something else',
      [rule],
      [
        at('{"countersign.permissions.deny": ["Bash(npm test)"]}'),
        by('{"countersign.permissions.allow": ["Bash(npm test)"]}'),
      ],
      [],
    ],
    ['seen on disk some texts ago', [rule], [at(`{// ${allow}\n}`), at(empty), by(`{${allow}}`)], []],
    [
      'at two places',
      [rule],
      [
        at(empty),
        by(
          '{"countersign.permissions.allow": ["Bash(npm test)"], "countersign": {"permissions": {"allow": ["Bash(npm test)"]}}}',
        ),
      ],
      [],
    ],
    ['beside an error that was mended in the same edit', [rule], [at('x\n{}'), by(`{${allow}}`)], []],
    [
      'typed where a comment spells it with escapes',
      [rule],
      [at('{// "\\u0042ash(npm test)"\n}'), by(`{// "\\u0042ash(npm test)"\n${allow}}`)],
      [],
    ],
    [
      'at a key that means two places',
      [{ ...bypass, key: 'countersign.agents.x.y.bypassPermissions' }],
      [
        at(empty),
        by('{"countersign.agents": {"x.y": {"bypassPermissions": true}, "x": {"y": {"bypassPermissions": true}}}}'),
      ],
      [],
    ],
    [
      'saved by hand, then with more by auto save',
      [rule],
      [at(empty), by(`{${allow}}`), by(`{${allow}, "a": 1}`, 'auto')],
      [],
    ],
    ['in a text that still does not parse', [rule], [at(empty), by(`{${allow}`)], []],
  ];
  it.each(cases)('%s', async (_, items, steps, digests) => {
    const confirmations = make();
    for (const step of steps) step(confirmations);
    confirmations.unconfirmed({ items });
    await settled();
    expect(confirmed.map(({ digest, accept }) => accept && digest)).toEqual(digests);
  });

  it('that was listed before the save is confirmed by it', async () => {
    const confirmations = make();
    confirmations.loaded(FILE, empty);
    trusted = false; // so that no question is in the way
    confirmations.unconfirmed({ items: [bypass] });
    save(confirmations, FILE, all);
    await settled();
    expect(confirmed).toEqual([{ digest: 'bypass', accept: true }]);
  });
});

describe('the dialog', () => {
  it('says the whole value, what it stands for and allows, what changed, and where it stands', () => {
    const item: wire.UnconfirmedItem = {
      ...rule,
      key: 'countersign.permissions.additionalDirectories',
      value: 'libs',
      resolved: '/srv/shared/libs',
      allows: 'The folder `/srv/shared/libs` would count like the workspace.',
      changed: 'was `/w/libs` when it was last confirmed',
    };
    expect(describeItem(item, texts)).toEqual({
      whole: true,
      detail: [
        'Until you accept it, it is ignored.',
        'In /w/.vscode/settings.json, line 4',
        'The folder “/srv/shared/libs” would count like the workspace.',
        'Changed: was “/w/libs” when it was last confirmed',
        'Value: libs',
        'It stands for: /srv/shared/libs',
      ].join('\n\n'),
    });
  });

  it('takes no words from a value: line breaks in it stay visible, and so does what is hidden', () => {
    const { detail } = describeItem(
      { ...rule, value: 'Bash(x)\n\nThis is safe.\u202E', text: 'a\n\nb', key: 'k' },
      texts,
    );
    expect(detail).toContain('Value: "Bash(x)\\n\\nThis is safe.\\u202e"');
    expect(detail).toContain('A\\n\\nb');
  });

  it('shows a long value cut, counts the rest, and does not offer to accept it', async () => {
    press = 'Accept';
    make().unconfirmed({
      items: [
        { ...rule, value: 'x'.repeat(10_000) },
        { ...rule, digest: 'lines', value: Array.from({ length: 100 }, () => 1) },
      ],
    });
    await settled();
    await settled();
    expect(asked[0]!.detail).toContain(`${'x'.repeat(2000)}… (8000 more characters)`);
    expect(asked[0]!.buttons).toEqual(['Keep Ignoring', 'Open File']);
    expect(confirmed).toEqual([]);
  });

  it.each(['a\nb', 'x\u202Ey', '[r](command:a)', 'k'.repeat(300_000), '$(flame)'])(
    'has a headline of one plain, short line for any key',
    async (name) => {
      make().unconfirmed({ items: [{ ...rule, key: `countersign.agents.${name}` }] });
      await settled();
      const { message } = asked[0]!;
      expect(message.length).toBeLessThan(130);
      expect(message).not.toMatch(/[\n\u202E]|\]\(|\$\(/);
    },
  );
});
