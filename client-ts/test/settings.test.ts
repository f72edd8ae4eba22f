/** Settings to the server and back. */
import { beforeEach, describe, expect, it } from 'vitest';

import { createTexts } from '../src/editorText.ts';
import { createSettings, type SettingsHost } from '../src/settings.ts';
import { withChanges } from '../src/settingEdit.ts';


describe('what the server asks to be written', () => {
  let log: string[];
  let file: { text: string; dirty: boolean; saves: boolean } | undefined;
  let written: unknown[];

  const host = (): SettingsHost => ({
    ...createTexts((message) => message),
    layers: () => ({ user: { agents: { Other: { command: 'o' }, Claude: { command: 'c' } } }, workspace: {} }),
    trusted: () => true,
    workspaceFile: async () =>
      file && {
        text: file.text,
        dirty: file.dirty,
        change: async (changes) => {
          if (file!.saves) file!.text = withChanges(file!.text, changes);
          log.push('saved');
          return file!.saves;
        },
      },
    writeSetting: async (layer, setting, value) => void written.push([layer, setting, value]),
    settingsRead: async () => void log.push('read'),
  });
  const make = () => createSettings({ notify: (method) => void log.push(method) }, host());

  beforeEach(() => {
    log = [];
    written = [];
    file = { text: '{\n  // mine\n}\n', dirty: false, saves: true };
  });

  it('goes into the workspace file, which stays as it is otherwise, and the layers are told before the answer', async () => {
    const result = await make().update({ layer: 'workspace', path: ['agents', 'Claude', 'bypassPermissions'], value: true });
    expect(result).toEqual({ applied: true });
    expect(file!.text).toContain('// mine');
    expect(file!.text).toContain('"countersign.agents"');
    expect(log).toEqual(['saved', 'read', 'settings/changed']);
  });

  const refusals: [string, Partial<NonNullable<typeof file>>][] = [
    ['a file with unsaved changes', { dirty: true }],
    ['a file that does not parse', { text: '{"a": ' }],
    ['a file that cannot be saved', { saves: false }],
  ];
  it.each(refusals)('%s is refused and told', async (_, state) => {
    Object.assign(file!, state);
    const before = file!.text;
    const result = await make().update({ layer: 'workspace', path: ['countersign.agents', 'Claude', 'bypassPermissions'], value: true });
    expect(result.applied).toBe(false);
    expect(result.reason).toBeTruthy();
    expect(file!.text).toBe(before);
  });

  it('in the user’s settings one agent is changed and the others stay', async () => {
    await make().update({ layer: 'user', path: ['agents', 'Claude', 'model'], value: 'local' });
    expect(written).toEqual([['user', 'agents', { Other: { command: 'o' }, Claude: { command: 'c', model: 'local' } }]]);
  });

  it('a plain setting of the user is written under its own name, and null removes it', async () => {
    await make().update({ layer: 'user', path: ['permissions', 'allow'], value: ['Bash(ls)'] });
    await make().update({ layer: 'user', path: ['mode'], value: null });
    expect(written).toEqual([
      ['user', 'permissions.allow', ['Bash(ls)']],
      ['user', 'mode', undefined],
    ]);
  });

  it('layers that did not change are not told again', () => {
    const settings = make();
    settings.initial();
    settings.send();
    expect(log).toEqual([]);
  });
});
