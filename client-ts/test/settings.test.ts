/** Settings to the server and back. */
import { createHash } from 'node:crypto';

import { beforeEach, describe, expect, it } from 'vitest';

import { createTexts } from '../src/editorText.ts';
import type { LinkState } from '../src/link.ts';
import { createSettings, offeredModels, type SettingsHost } from '../src/settings.ts';
import { withChange } from '../src/settingEdit.ts';
import type * as wire from '../src/wire.gen.ts';
import { settingsTree } from './settingsTree.ts';

describe('what the server asks to be written', () => {
  let log: string[];
  let file: { text: string; dirty: boolean; saves: boolean } | undefined;
  let written: unknown[];
  let user: Record<string, unknown>;
  let files: wire.SettingsFiles | undefined;

  const host = (): SettingsHost => ({
    ...createTexts((message) => message),
    layers: () => ({ user, workspace: {} }),
    settingsFiles: () => files,
    trusted: () => true,
    workspaceFile: async () =>
      file && {
        text: file.text,
        dirty: file.dirty,
        change: async (change) => {
          if (file!.saves) file!.text = withChange(file!.text, change);
          log.push('saved');
          return file!.saves;
        },
      },
    writeSetting: async (layer, setting, value) => void written.push([layer, setting, value]),
    settingsRead: async () => void log.push('read'),
  });
  const make = () => createSettings({ state: 'running', notify: (method) => void log.push(method) }, host());

  /** What the server would send for the file as it is now. */
  const edit = (text: string): wire.TextEdit => ({
    replaces: createHash('sha256').update(file!.text).digest('hex'),
    text,
  });
  const AFTER = '{\n  // mine\n  "countersign.agents": {"Claude": {"bypassPermissions": true}}\n}\n';

  beforeEach(() => {
    log = [];
    written = [];
    files = undefined;
    user = { agents: { Other: { command: 'o' }, Claude: { command: 'c' } } };
    file = { text: '{\n  // mine\n}\n', dirty: false, saves: true };
  });

  it('goes into the workspace file, which stays as it is otherwise, and the layers are told before the answer', async () => {
    const result = await make().update({
      layer: 'workspace',
      path: ['agents', 'Claude', 'bypassPermissions'],
      value: true,
      edit: edit(AFTER),
    });
    expect(result).toEqual({ applied: true });
    expect(file!.text).toBe(AFTER);
    expect(written).toEqual([]);
    expect(log).toEqual(['saved', 'read', 'settings/changed']);
  });

  const refusals: [string, Partial<NonNullable<typeof file>>][] = [
    ['a file with unsaved changes', { dirty: true }],
    ['a file that changed since the server read it', { text: '{"a": 1}' }],
    ['a file that cannot be saved', { saves: false }],
  ];
  it.each(refusals)('%s is refused and told', async (_, state) => {
    const made = edit(AFTER);
    Object.assign(file!, state);
    const before = file!.text;
    const result = await make().update({
      layer: 'workspace',
      path: ['countersign.agents', 'Claude', 'bypassPermissions'],
      value: true,
      edit: made,
    });
    expect(result.applied).toBe(false);
    expect(result.reason).toBeTruthy();
    expect(file!.text).toBe(before);
  });

  it('where the editor has no such file, its own interface writes the setting', async () => {
    file = undefined;
    await make().update({ layer: 'workspace', path: ['mode'], value: 'plan', edit: { replaces: '', text: '{}' } });
    expect(written).toEqual([['workspace', 'mode', 'plan']]);
  });

  const drops: [string, string, Pick<wire.SettingsUpdateParams, 'path' | 'value' | 'remove'>][] = [
    [
      'a whole list that lacks one',
      '{"countersign.permissions.deny": ["Bash(rm:*)", "Bash(dd:*)"]}',
      { path: ['permissions', 'deny'], value: ['Bash(dd:*)'] },
    ],
    [
      'the list taken away',
      '{"countersign.permissions.ask": ["Bash(rm:*)"]}',
      { path: ['permissions', 'ask'], value: null },
    ],
    [
      'all permissions written anew',
      '{"countersign.permissions": {"deny": ["Bash(rm:*)"]}}',
      { path: ['permissions'], value: { allow: ['Bash'] } },
    ],
    [
      'the other list named',
      '{"countersign": {"permissions": {"deny": ["Bash(rm:*)"], "allow": []}}}',
      { path: ['permissions'], value: { allow: [] }, remove: undefined },
    ],
  ];
  it.each(drops)('an edit that would drop a deny or ask rule unnamed is refused: %s', async (_, text, edit) => {
    user = settingsTree(text);
    expect((await make().update({ layer: 'user', ...edit })).applied).toBe(false);
    expect(written).toEqual([]);
  });

  it('one that names the rule takes it out', async () => {
    user = { 'permissions.deny': ['Bash(rm:*)', 'Bash(dd:*)'] };
    await make().update({ layer: 'user', path: ['permissions', 'deny'], value: [], remove: ['Bash(rm:*)'] });
    expect(written).toEqual([['user', 'permissions.deny', ['Bash(dd:*)']]]);
  });

  it('in the user’s settings one agent is changed and the others stay', async () => {
    await make().update({ layer: 'user', path: ['agents', 'Claude', 'model'], value: 'local' });
    expect(written).toEqual([
      ['user', 'agents', { Other: { command: 'o' }, Claude: { command: 'c', model: 'local' } }],
    ]);
  });

  it('a plain setting of the user is written under its own name, and null removes it', async () => {
    await make().update({ layer: 'user', path: ['permissions', 'allow'], value: ['Bash(ls)'] });
    await make().update({ layer: 'user', path: ['mode'], value: null });
    expect(written).toEqual([
      ['user', 'permissions.allow', ['Bash(ls)']],
      ['user', 'mode', undefined],
    ]);
  });

  it.each([[undefined], [{ workspace: '/w/app.code-workspace' }], [{}]])(
    'the file of the workspace layer goes with the layers: %o',
    (told) => {
      files = told;
      const sent: unknown[] = [];
      const settings = createSettings({ state: 'running', notify: (_, params) => void sent.push(params) }, host());
      expect(settings.initial().files).toEqual(told);
      settings.send([]);
      expect(sent).toEqual([
        { settings: { user, workspace: {} }, trusted: true, ...(told && { files: told }), byPerson: [] },
      ]);
    },
  );

  it('what changes while the server starts is told when it runs', () => {
    const link = { state: 'starting' as LinkState, notify: (method: string) => void log.push(method) };
    const settings = createSettings(link, host());
    settings.initial();
    user = { permissions: { deny: ['Bash(rm:*)'] } };
    settings.send();
    expect(log).toEqual([]);
    link.state = 'running';
    settings.send();
    settings.send();
    expect(log).toEqual(['settings/changed']);
  });

  it('layers that did not change are not told again', () => {
    const settings = make();
    settings.initial();
    settings.send();
    expect(log).toEqual([]);
  });
});

it('demo is offered first, once, whatever models are set up', () => {
  expect(offeredModels({})).toEqual(['demo']);
  expect(offeredModels({ local: {}, demo: {} })).toEqual(['demo', 'local']);
});
