/** Escaping, diffs, Markdown links and rule meanings: text that a person decides by. */
import { describe, expect, it } from 'vitest';

import { hasHidden, pieces, reveal, revealProse } from '../src/reveal.ts';
import { unifiedDiff } from '../webview/diff.ts';
import { diffRows } from '../webview/rows.ts';
import { asTarget } from '../webview/markdown.ts';
import { inputFacts, outcomeFacts } from '../webview/receiptWords.ts';
import { durationWords, ruleMeaning, shortPath } from '../webview/words.ts';

describe('what cannot be seen is shown', () => {
  const cases: [string, string, string][] = [
    ['plain text stays', 'rm -rf build && café 🎉\n\tx', 'rm -rf build && café 🎉\n\tx'],
    ['right-to-left override', 'a\u202Eb', 'a\\u202eb'],
    ['isolates', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['zero width', 'ru\u200Bn\u2060\uFEFF', 'ru\\u200bn\\u2060\\ufeff'],
    ['carriage return and escape', 'a\r\u001B[2K', 'a\\r\\e[2K'],
    ['NUL and other controls', '\0\u0007\u007F\u0085', '\\0\\x07\\x7f\\x85'],
    ['blanks that are none', 'a\u00A0b\u2003c\u3000', 'a\\xa0b\\u2003c\\u3000'],
    ['fillers and soft hyphen', '\u3164\u115F\u00AD', '\\u3164\\u115f\\xad'],
    ['tags and variation selectors', '\u{E0041}a\uFE0F\u{E0100}', '\\u{e0041}a\\ufe0f\\u{e0100}'],
    ['line separators', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['lone surrogates', 'a\uD800b', 'a\\ud800b'],
    ['private use', '\uE000\u{F0000}', '\\ue000\\u{f0000}'],
  ];
  it.each(cases)('%s', (_, given, expected) => {
    expect(reveal(given)).toBe(expected);
    expect(
      pieces(given)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(expected);
    expect(hasHidden(given)).toBe(given !== expected);
  });

  it('an escape is told from text that looks like one', () => {
    expect(pieces('\\u202e\u202E')).toEqual([
      { text: '\\u202e', escaped: false },
      { text: '\\u202e', escaped: true },
    ]);
  });

  it('running text keeps its joiners but not what reorders it', () => {
    expect(revealProse('👩\u200D💻 \u202Eabc')).toBe('👩\u200D💻 \\u202eabc');
  });
});

describe('a diff holds every changed line', () => {
  const draw = (oldText: string | undefined, newText: string): string[] =>
    unifiedDiff(oldText, newText).rows.map((row) =>
      row.kind === 'gap'
        ? `@ ${row.lines}`
        : row.kind === 'note'
          ? `# ${row.text}`
          : `${{ same: ' ', added: '+', removed: '-' }[row.kind]}${row.text}`,
    );
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${index}\n`).join('');

  const cases: [string, string | undefined, string, string[]][] = [
    ['a new file', undefined, 'a\nb\n', ['+a', '+b']],
    ['an emptied file', 'a\n', '', ['-a']],
    [
      'a change with what is round it',
      lines(12),
      lines(12).replace('6\n', 'x\n'),
      ['@ 3', ' 3', ' 4', ' 5', '-6', '+x', ' 7', ' 8', ' 9', '@ 2'],
    ],
    ['no change', 'a\n', 'a\n', ['@ 1']],
    ['a newline at the end that goes', 'a\n', 'a', ['-a', '+a', '# no newline at end of file']],
    ['CRLF throughout is said once', 'a\r\nb\r\n', 'a\r\nc\r\n', [' a', '-b', '+c', '# all lines end in CRLF']],
    ['a line end that changes is a change', 'a\nb\n', 'a\r\nb\n', ['-a', '+a\r', ' b']],
    ['a lone carriage return stays visible', 'a\n', 'a\rb\n', ['-a', '+a\rb']],
  ];
  it.each(cases)('%s', (_, before, after, expected) => {
    expect(draw(before, after)).toEqual(expected);
  });

  it('marks the words of a line that changed, and only where lines stand in pairs', () => {
    const words = (before: string, after: string): string[] =>
      unifiedDiff(before, after).rows.flatMap((row) =>
        'words' in row && row.words ? row.words.map(([from, to]) => `${row.kind} ${row.text.slice(from, to)}`) : [],
      );
    expect(words('return int(s)\n', 'return int(s.strip())\n')).toEqual(['added .strip(', 'added )']);
    expect(words('rm -r build\n', 'rm -rf ~\n')).toEqual(['removed r', 'removed build', 'added rf', 'added ~']);
    expect(words('a\n', 'b\n')).toEqual([]);
    expect(words('a b\n', 'a c\na d\n')).toEqual([]);
    expect(words(`x ${'y'.repeat(3000)}\n`, `x ${'z'.repeat(3000)}\n`)).toEqual([]);
  });

  it('marked words leave every character where it was, in rows and segments of any length', () => {
    const line = (word: string): string => `${'\u202E\uD83D\uDE00 word '.repeat(30)}${word} ${'tail '.repeat(30)}`;
    const [before, after] = [line('old'), line('new')];
    const rows = diffRows(unifiedDiff(before, after).rows, true);
    for (const [kind, text, changed] of [
      ['removed', before, 'old'],
      ['added', after, 'new'],
    ] as const) {
      const own = rows.filter((row) => row.kind === kind);
      expect(own.flatMap((row) => row.segments).join('')).toBe(text);
      expect(
        own.flatMap((row) => (row.words ?? []).map(([from, to]) => row.segments.join('').slice(from, to))).join(''),
      ).toBe(changed);
    }
  });

  it('colors strings, numbers and keywords of a file whose language it knows, and never a comment', () => {
    const colors = (path: string, after: string): string[] =>
      diffRows(unifiedDiff('', after).rows, true, path).flatMap((row) =>
        (row.tokens ?? []).map(({ kind, start, end }) => `${kind} ${row.segments.join('').slice(start, end)}`),
      );
    const line = 'return "a" + 12 // if 3\n';
    expect(colors('src/a.ts', line)).toEqual(['keyword return', 'string "a"', 'number 12']);
    expect(colors('a.txt', line)).toEqual([]);
    expect(colors('sub/Makefile', 'export A = 1\n')).toEqual(['keyword export', 'number 1']);
    expect(colors('a.ts', `return "${'x'.repeat(3000)}"\n`)).toEqual([]);
    expect(colors('a.ts', 'return 12; const a = "b";\n'.repeat(10_000)).length).toBeLessThan(35_000);
  });

  it('colored words leave every character where it was, in rows and segments of any length', () => {
    const line = (word: string): string => `return "\u202E${'\uD83D\uDE00 word '.repeat(60)}${word}" + 12`;
    const rows = diffRows(unifiedDiff(line('old'), line('new')).rows, true, 'a.js');
    const own = rows.filter((row) => row.kind === 'added');
    expect(own.flatMap((row) => row.segments).join('')).toBe(line('new'));
    expect(
      own.flatMap((row) => (row.tokens ?? []).map(({ start, end }) => row.segments.join('').slice(start, end))),
    ).toEqual(['return', line('new').slice(7, -5), '12']);
  });

  it('too different to compare is shown as replaced, whole', () => {
    const before = Array.from({ length: 6000 }, (_, index) => `old ${index}\n`).join('');
    const after = Array.from({ length: 6000 }, (_, index) => `new ${index}\n`).join('');
    expect(unifiedDiff(before, after)).toMatchObject({ added: 6000, removed: 6000 });
  });
});

describe('links lead to http(s) and files only', () => {
  const cases: [string, unknown][] = [
    ['https://example.com/a?b#c', { href: 'https://example.com/a?b#c' }],
    ['src/a.py', { path: 'src/a.py' }],
    ['src/a.py:12', { path: 'src/a.py', line: 12 }],
    ['src/a.py#L12-L14', { path: 'src/a.py', line: 12 }],
    ['a.py:3', { path: 'a.py', line: 3 }],
    ['file:///home/me/a.py', { path: '/home/me/a.py' }],
    ['javascript:alert(1)', undefined],
    ['JaVaScRiPt:alert(1)', undefined],
    ['command:workbench.action.quit', undefined],
    ['vscode://x.y/z', undefined],
    ['data:text/html,x', undefined],
    ['//evil.example', undefined],
    ['file://host/share', undefined],
    ['file:////host/share/a.py', undefined],
    ['%2F%2Fhost/share/a.py:1', undefined],
    [String.raw`\\host\share\a.py`, undefined],
    [String.raw`/\host/share/a.py`, undefined],
    ['#top', undefined],
    ['%zz', undefined],
  ];
  it.each(cases)('%s', (href, expected) => {
    expect(asTarget(href)).toEqual(expected);
  });
});

it.each([
  ['Bash(npm run test:*)', 'Covers every command that begins with “npm run test”, alone or followed by anything.'],
  ['Bash(npm run test *)', 'Covers every command that begins with “npm run test”, alone or followed by anything.'],
  ['Bash(ls)', 'Covers exactly this command, wherever it stands in a line.'],
  ['Bash(git * main)', 'Covers every command of this form; * stands for any text.'],
  ['Bash', 'Covers every command.'],
  ['Edit(./src/**)', 'Covers changes of every file below ./src.'],
  ['Edit', 'Covers every change of any file.'],
  ['WebFetch(domain:example.com)', 'Covers every page and every port of example.com.'],
  ['mcp__github__create_issue', 'Covers this tool with any input.'],
  ['mcp__github__*', 'Covers every tool of this server, with any input.'],
  ['rm -rf', 'This does not look like a rule; it would be refused.'],
])('%s means: %s', (rule, meaning) => {
  expect(ruleMeaning(rule)).toBe(meaning);
});

it.each([
  [12, ''],
  [420, '0.4 s'],
  [12_400, '12 s'],
  [300_000, '5 min'],
])('%d ms is said as "%s"', (milliseconds, words) => {
  expect(durationWords(milliseconds)).toBe(words);
});

it.each([
  ['/w/src/a', 'src/a'],
  ['/w', '.'],
  ['/wx/a', '/wx/a'],
  ['/h/a', '~/a'],
  ['/etc/x', '/etc/x'],
])('%s is shown as %s', (path, short) => {
  expect(shortPath(path, '/w', '/h')).toBe(short);
});

describe('what a call was given is said in words', () => {
  const cases: [string, unknown, string[]][] = [
    ['a command', { command: 'ls', timeout: 5, cwd: null }, ['Command: ls', 'Timeout: 5']],
    [
      'edits of a file',
      { path: 'a.py', edits: [{ old_text: 'x', new_text: 'y' }] },
      ['File: a.py', 'Replacement 1, Text before: x', 'Replacement 1, Text after: y'],
    ],
    ['fields of another agent', { file_path: 'a', own_field: { a: 1 } }, ['File: a', 'own_field: {"a":1}']],
    ['names that every object has', { constructor: 'c', toString: true }, ['constructor: c', 'toString: yes']],
    ['what is no table', 'ls', ['Input: ls']],
    ['nothing', undefined, []],
  ];
  it.each(cases)('%s', (_, input, expected) => {
    expect(inputFacts(input).map((fact) => fact.join(': '))).toEqual(expected);
  });
});

describe('how a call ended is said in words', () => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    [
      'a new file',
      { ended: 'done', durationMs: 5, operation: 'create', path: '/w/a.md', bytes: 10, sha256Before: null },
      ['Ended: done', 'Took: 5 ms', 'Kind of change: a new file', 'File: a.md', 'Bytes: 10'],
    ],
    [
      'a command in the sandbox',
      {
        ended: 'done',
        state: 'exited',
        shellId: 's-1',
        timedOut: false,
        background: true,
        sandbox: { mode: 'writable', refusedHosts: ['a.example', 'b.example'] },
        withheld: ['A', 'B'],
      },
      [
        'Ended: done',
        'State: ended by itself',
        'Running command: s-1',
        'In the background: yes',
        'Sandbox: sandboxed · refused hosts: a.example, b.example',
        'Variables kept back: A, B',
      ],
    ],
    ['a command', { ended: 'failed', durationMs: 1200, exitCode: 2 }, ['Ended: failed', 'Took: 1.2 s', 'Exit code: 2']],
    [
      'what was cut off',
      { ended: 'interrupted', left: '`a` was put back' },
      ['Ended: interrupted', 'Left behind: `a` was put back'],
    ],
    ['what has no word', { constructor: 1, other: { deep: [true] } }, ['constructor: 1', 'other: {"deep":[true]}']],
    ['what is not as expected', { durationMs: 'long', path: 7 }, ['Took: long', 'File: 7']],
  ];
  it.each(cases)('%s', (_, outcome, expected) => {
    expect(outcomeFacts(outcome, (path) => shortPath(path, '/w', undefined)).map((fact) => fact.join(': '))).toEqual(
      expected,
    );
  });
});
