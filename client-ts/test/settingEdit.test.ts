import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';

import { editSetting, withChanges } from '../src/settingEdit.ts';

const BYPASS = ['agents', 'Claude', 'bypassPermissions'];

const CASES: { name: string; before: string; path: string[]; value: unknown; after: string }[] = [
  {
    name: 'an empty file gets the dotted key',
    before: '',
    path: BYPASS,
    value: true,
    after:
      '{\n    "countersign.agents": {\n        "Claude": {\n            "bypassPermissions": true\n        }\n    }\n}\n',
  },
  {
    name: 'comments and formatting round the value survive',
    before:
      '{\n  // mine\n  "countersign.agents": {\n    "Claude": { /* keep */ "command": "x" } // why\n  },\n  "editor.tabSize": 2, // two\n}\n',
    path: BYPASS,
    value: true,
    after:
      '{\n  // mine\n  "countersign.agents": {\n    "Claude": { /* keep */ "command": "x", "bypassPermissions": true } // why\n  },\n  "editor.tabSize": 2, // two\n}\n',
  },
  {
    name: 'a nested form is edited where it stands',
    before: '{ "countersign": { "agents": { "Claude": { "bypassPermissions": false } } } }',
    path: BYPASS,
    value: true,
    after: '{ "countersign": { "agents": { "Claude": { "bypassPermissions": true } } } }',
  },
  {
    name: 'a fully dotted form is edited where it stands',
    before: '{"countersign.agents.Claude.bypassPermissions": false}',
    path: BYPASS,
    value: true,
    after: '{"countersign.agents.Claude.bypassPermissions": true}',
  },
  {
    name: 'of duplicate keys the last is edited',
    before:
      '{"countersign.agents": {"Claude": {"bypassPermissions": false}}, "countersign.agents": {"Claude": {"bypassPermissions": false}}}',
    path: BYPASS,
    value: true,
    after:
      '{"countersign.agents": {"Claude": {"bypassPermissions": false}}, "countersign.agents": {"Claude": {"bypassPermissions": true}}}',
  },
  {
    name: 'another agent of the map is not touched',
    before: '{\n\t"countersign.agents": {\n\t\t"Other": {}\n\t}\n}',
    path: BYPASS,
    value: true,
    after:
      '{\n\t"countersign.agents": {\n\t\t"Other": {},\n\t\t"Claude": {\n\t\t\t"bypassPermissions": true\n\t\t}\n\t}\n}',
  },
  {
    name: 'a comma goes before a comment that ends the last line',
    before: '{\n  "a": 1 // one\n}',
    path: ['mode'],
    value: 'plan',
    after: '{\n  "a": 1, // one\n  "countersign.mode": "plan"\n}',
  },
  {
    name: 'a rule is appended, the others keep their comments',
    before: '{\n  "countersign.permissions.allow": [\n    "A", // first\n    "B" // second\n  ]\n}',
    path: ['permissions', 'allow'],
    value: ['A', 'B', 'C'],
    after: '{\n  "countersign.permissions.allow": [\n    "A", // first\n    "B", // second\n    "C"\n  ]\n}',
  },
  {
    name: 'a rule is taken out alone',
    before: '{\n  "countersign.permissions.allow": [\n    "A", // first\n    "B"\n  ]\n}',
    path: ['permissions', 'allow'],
    value: ['A'],
    after: '{\n  "countersign.permissions.allow": [\n    "A" // first\n  ]\n}',
  },
  {
    name: 'an agent name with a dot is one name',
    before: '{"countersign.agents": {"gpt.5": {"command": "x"}}}',
    path: ['agents', 'gpt.5', 'bypassPermissions'],
    value: true,
    after: '{"countersign.agents": {"gpt.5": {"command": "x", "bypassPermissions": true}}}',
  },
  {
    name: 'null removes the key and its comma',
    before: '{\n  "a": 1,\n  "countersign.mode": "auto"\n}',
    path: ['mode'],
    value: null,
    after: '{\n  "a": 1\n}',
  },
  { name: 'removing what is not there changes nothing', before: '{}', path: ['mode'], value: null, after: '{}' },
  {
    name: 'line ends stay what they were',
    before: '{\r\n    "a": {}\r\n}',
    path: ['mode'],
    value: 'ask',
    after: '{\r\n    "a": {},\r\n    "countersign.mode": "ask"\r\n}',
  },
  {
    name: 'an empty object is opened',
    before: '{\n  "countersign.agents": {}\n}',
    path: BYPASS,
    value: true,
    after: '{\n  "countersign.agents": {\n    "Claude": {\n      "bypassPermissions": true\n    }\n  }\n}',
  },
];

describe('one setting is changed and every other byte stays', () => {
  for (const { name, before, path, value, after } of CASES) {
    it(name, () => {
      const edit = editSetting(before, path, value);
      expect('changes' in edit && withChanges(before, edit.changes)).toBe(after);
      expect(() => parse(after)).not.toThrow();
    });
  }
});

it.each([
  '{"a": ',
  '[]',
  '{"a": 1 "b": 2}',
  '{"countersign.agents": 7}',
  '{"countersign.agents": {"Claude": true}}',
  '{"countersign": {"agents": {}}, "countersign": 7}',
])('%s is refused and not touched', (text) => {
  expect(editSetting(text, BYPASS, true)).toHaveProperty('refused');
});
