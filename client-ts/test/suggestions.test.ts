/** What an empty chat suggests in a workspace. */
import { expect, it } from 'vitest';

import { suggestionsFor } from '../src/suggestions.ts';

it.each<[string, string[], string]>([
  ['an empty folder', [], 'start, plan, newReadme'],
  ['one that git alone has written in', ['.git', '.gitignore'], 'start, plan, newReadme'],
  ['a package with tests', ['.git', 'README.md', 'package.json', 'src', 'test'], 'build, tests, readme README.md'],
  ['notes with a README', ['.git', 'Readme.txt', 'notes.md'], 'readme Readme.txt, changes, todo'],
  ['notes alone', ['notes.md'], 'todo, overview, start'],
  ['tests without a README', ['Makefile', 'pytest.ini', '.git'], 'build, tests, changes'],
  ['names that only resemble', ['readme-old.md', 'package.json.bak', 'contest'], 'todo, overview, start'],
])('%s', (_, names, expected) => {
  const found = suggestionsFor(names).map((one) => ('file' in one ? `${one.kind} ${one.file}` : one.kind));
  expect(found.join(', ')).toBe(expected);
});
