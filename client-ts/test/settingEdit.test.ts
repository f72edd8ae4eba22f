/** The server's edit on the text that the editor has. */
import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { changeOf, withChange } from '../src/settingEdit.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const CASES: [string, string, string, string][] = [
  ['an empty file', '', '{}\n', '{}\n'],
  ['a value in the middle', '{\n  "a": 1,\n  "b": 2\n}', '{\n  "a": 3,\n  "b": 2\n}', '{\n  "a": 3,\n  "b": 2\n}'],
  ['an entry that repeats the one before', '["a"]', '["a", "a"]', '["a", "a"]'],
  ['an entry taken out', '["a", "a"]', '["a"]', '["a"]'],
  ['line ends of Windows stay', '{\r\n}', '{\n  "a": 1\n}', '{\r\n  "a": 1\r\n}'],
  ['nothing changed', '{}', '{}', '{}'],
];

describe('the text becomes the server’s', () => {
  it.each(CASES)('%s', (_, before, text, after) => {
    const change = changeOf(before, { replaces: digest(before.replaceAll('\r\n', '\n')), text });
    expect(withChange(before, change!)).toBe(after);
  });
});

it('the change touches no more than what differs', () => {
  const before = '{\n  // mine\n  "a": 1\n}';
  expect(changeOf(before, { replaces: digest(before), text: '{\n  // mine\n  "a": 12\n}' })).toEqual({
    offset: 20,
    length: 0,
    text: '2',
  });
});

it('an edit of another text is not made', () => {
  expect(changeOf('{"a": 1}', { replaces: digest('{"a": 2}'), text: '{}' })).toBeUndefined();
});
