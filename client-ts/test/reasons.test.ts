/** Texts of the server in another language: the template that a text was made from is found, or the text stays as it is. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { createReasons, isUsable, LONGEST, type ReasonTable } from '../src/reasons.ts';

const L10N = path.join(import.meta.dirname, '../l10n');
const read = (file: string): ReasonTable => JSON.parse(readFileSync(path.join(L10N, file), 'utf8')) as ReasonTable;
const TEMPLATES = Object.keys(read('reasons.json'));
const LANGUAGES = readdirSync(L10N).flatMap((file) => /^reasons\.(\w+)\.json$/.exec(file)?.[1] ?? []);

/** A language in which each sentence is its own number, with its values in their order. */
const NUMBERED = Object.fromEntries(
  TEMPLATES.map((template, index) => [template, `§${index} ${(template.match(/(?:\{\d+\})+/g) ?? []).join(' | ')}`]),
);

const SMALL: ReasonTable = {
  'no rule matches': 'keine Regel passt',
  'the person denied it': 'der Mensch hat es abgelehnt',
  'it is not JSON': 'es ist kein JSON',
  network: 'Netz',
  '`{0}` is not a file': '`{0}` ist keine Datei',
  '`{0}` is not a file; name one': '`{0}` ist keine Datei; nenne eine',
  'mode dontAsk denies what would ask: {0}': 'der Modus dontAsk verweigert, was fragen würde: {0}',
  'the agent {0} answered {1} with `{2}`{3}': 'auf {1} antwortete {0} mit `{2}`{3}',
  'the agent {0}': 'der Agent {0}',
  'the agent {0} has ended': 'der Agent {0} ist zu Ende',
  'bypass is on for {0}{1}': 'Umgehung ist an für {0}{1}',
  'from {0} to {1}': 'bis {1} ab {0}',
  'the chat cannot be written ({0}), so nothing runs':
    'nichts läuft, denn der Chat kann nicht geschrieben werden ({0})',
  'line {0}: {1}': 'Zeile {0}: {1}',
  'so {0} it is': 'so {0} ist es',
  'it {0} so': 'es {0} so',
};
const small = createReasons(SMALL);

describe('a text is read in one way, or stays English', () => {
  it.each<[text: string, translated: string | undefined]>([
    ['no rule matches', 'keine Regel passt'],
    ['network', 'Netz'],
    ['No rule matches', undefined],
    ['`src/a.py` is not a file', '`src/a.py` ist keine Datei'],
    ['`src/a b.py` is not a file; name one', '`src/a b.py` ist keine Datei; nenne eine'],
    // A value that is a text of the server's again, and texts that were joined.
    [
      'mode dontAsk denies what would ask: no rule matches',
      'der Modus dontAsk verweigert, was fragen würde: keine Regel passt',
    ],
    [
      'no rule matches; it is not JSON. the person denied it',
      'keine Regel passt; es ist kein JSON. der Mensch hat es abgelehnt',
    ],
    ['`a` is not a file; the person denied it', '`a` ist keine Datei; der Mensch hat es abgelehnt'],
    ['claude: the person denied it', 'claude: der Mensch hat es abgelehnt'],
    ['no rule matches; it is not JSON.', 'keine Regel passt; es ist kein JSON.'],
    ['line 3: it is not JSON', 'Zeile 3: es ist kein JSON'],
    ['line 3: Expecting value', 'Zeile 3: Expecting value'],
    ['Claude Code: the person denied it', 'Claude Code: der Mensch hat es abgelehnt'],
    // Half of it is not known.
    ['what was never said: the person denied it', undefined],
    ['no rule matches; the moon is full', undefined],
    ['the moon is full', undefined],
    // The narrower template, not the one that matches everything.
    ['the agent claude has ended', 'der Agent claude ist zu Ende'],
    ['the agent claude answered `initialize` with `no`', 'auf `initialize` antwortete claude mit `no`'],
    ['the agent claude answered `initialize` with `no`; its log says more', undefined],
    // A value is a name or quoted: words that are not known would leave a sentence half translated.
    ['bypass is on for claude', 'Umgehung ist an für claude'],
    ['bypass is on for claude until this window is closed', undefined],
    [
      'the chat cannot be written (No space left on device), so nothing runs',
      'nichts läuft, denn der Chat kann nicht geschrieben werden (No space left on device)',
    ],
    // Two places for one word, or two templates that say different things.
    ['from a to b', 'bis b ab a'],
    ['from a to b to c', undefined],
    ['so it is so it is so', undefined],
    ['it it is so', undefined],
  ])('%s', (text, translated) => expect(small.translated(text)).toBe(translated));
});

describe('what was written to mislead stays as it was written', () => {
  const long = (part: string, length = 100_000): string => part.repeat(Math.ceil(length / part.length));
  const within = LONGEST - 200;
  const asks = 'mode dontAsk denies what would ask: ';
  const nested = long(asks, within);
  it.each<[what: string, text: string, translated?: string]>([
    // Names that hold whole sentences of the server.
    ['a name that is a text', '`no rule matches` is not a file', '`no rule matches` ist keine Datei'],
    ['a name that is a template', '`{0} is not a file` is not a file', '`{0} is not a file` ist keine Datei'],
    ['a name that is a hole', '`{0}` is not a file', '`{0}` ist keine Datei'],
    ['a name that is another hole', '`{1}{0}` is not a file', '`{1}{0}` ist keine Datei'],
    ['a name that is joined texts', '`a; no rule matches` is not a file', '`a; no rule matches` ist keine Datei'],
    [
      'a name that ends the sentence',
      '`a is not a file; name one` is not a file',
      '`a is not a file; name one` ist keine Datei',
    ],
    ['a name that is a replacement', '`$& $1 $$` is not a file', '`$& $1 $$` ist keine Datei'],
    ['a name that is an expression', '`.*(a+)+$[` is not a file', '`.*(a+)+$[` ist keine Datei'],
    ['a name that is a key of every object', '`__proto__` is not a file', '`__proto__` ist keine Datei'],
    ['a name of blanks', '`   ` is not a file', '`   ` ist keine Datei'],
    ['a name in another alphabet', '`файл` is not a file', '`файл` ist keine Datei'],
    ['a name with a line break', '`a\nb` is not a file', '`a\nb` ist keine Datei'],
    ['an agent of this name', 'the agent no rule matches has ended'],
    ['an agent that has ended twice', 'the agent a has ended has ended'],
    // Backticks in names.
    ['a backtick in a name', '`a`b` is not a file'],
    ['two backticks in a name', '`a` is not a file`` is not a file'],
    ['a name between two names', '`a` `b` is not a file'],
    [
      'a name that closes and opens',
      '`a` is not a file; `b` is not a file',
      '`a` ist keine Datei; `b` ist keine Datei',
    ],
    ['nothing between backticks', '`` is not a file'],
    ['an open backtick', '`a is not a file'],
    ['backticks alone', '```````'],
    ['a backtick in front', '`no rule matches'],
    ['backticks round all of it', '`no rule matches`'],
    ['a value with half of a pair', 'mode dontAsk denies what would ask: `a'],
    // Not what the server says.
    ['an empty text', ''],
    ['a key of every object', 'constructor'],
    ['another key of every object', '__proto__'],
    ['a template itself', 'the agent {0} has ended', 'der Agent {0} ist zu Ende'],
    ['one more space', 'no rule  matches'],
    ['a line behind it', 'no rule matches\n'],
    ['a letter that looks the same', 'no rule mаtches'],
    ['a hidden character', 'no rule\u200B matches'],
    ['what direction is turned', '\u202Eno rule matches'],
    ['characters that stand for backticks', '\uE000a\uE001 is not a file'],
    ['the character that stands for any value', '`\uE002` is not a file'],
    ['half of a character', '`\uD800` is not a file', '`\uD800` ist keine Datei'],
    ['a text and something before it', 'Allowed: everything. no rule matches'],
    // Long ones: each answer within a moment.
    ['100 kB of a text', long('no rule matches; ')],
    ['100 kB of backticks', long('`')],
    ['a name of 100 kB', `\`${long('a')}\` is not a file`],
    ['100 kB of the middle of a template', `the agent ${long(' answered ')} with \`x\``],
    ['as many pieces as fit', long('no rule matches; ', within)],
    ['as many unknown pieces as fit', long('x; ', within)],
    ['as many colons as fit', `${long('a: ', within)}no rule matches`],
    ['as many middles as fit', `from ${long(' to ', within)}`],
    [
      'texts in texts in texts',
      `${nested}no rule matches`,
      `${'der Modus dontAsk verweigert, was fragen würde: '.repeat(4)}${nested.slice(4 * asks.length)}no rule matches`,
    ],
    ['texts in joined texts', long(`${asks}it is; `, within), undefined],
    ['as many backticks as fit', `${long('`a` ', within)}is not a file`],
  ])('%s', (_, text, translated) => {
    const all = createReasons(NUMBERED);
    all.translated('warm');
    const begun = performance.now();
    all.translated(text);
    const took = performance.now() - begun;
    expect(small.translated(text)).toBe(translated);
    // Generous, for a machine under load: what is not linear takes minutes.
    expect(took).toBeLessThan(1000);
  });
});

const TABLES: [language: string, table: ReasonTable][] = [
  ['of numbers', NUMBERED],
  ...LANGUAGES.map((name): [string, ReasonTable] => [name, read(`reasons.${name}.json`)]),
];

describe.each(TABLES)('the language %s', (_, table) => {
  const reasons = createReasons(table);
  /** Values as they are: names, numbers, paths. */
  const fillings = [(at: number) => `v${at}x`, (at: number) => String(at + 12), (at: number) => `src/a-${at}.py`];

  it('can find each template: its backticks are in pairs, and the translation has its values', () => {
    expect(Object.entries(table).filter(([template, translation]) => !isUsable(template, translation))).toEqual([]);
  });

  it('finds each template by its text alone, with names as its values', () => {
    const unclear = new Set<string>();
    for (const [template, translation] of Object.entries(table)) {
      for (const filling of fillings) {
        const fill = (text: string): string =>
          text.replaceAll(/\{(\d+)\}/g, (_whole, at: string) => filling(Number(at)));
        const found = reasons.translated(fill(template));
        if (found === undefined) unclear.add(template);
        else expect(found).toBe(fill(translation));
      }
    }
    expect([...unclear]).toEqual([]);
  });
});
