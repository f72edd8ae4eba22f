/** Settings to the server and back, and who counts as having confirmed a value. */
import { beforeEach, describe, expect, it } from 'vitest';

import { createConfirmations } from '../src/confirmations.ts';
import { createSettings, type SettingsHost } from '../src/settings.ts';
import { withChanges } from '../src/settingEdit.ts';
import type * as wire from '../src/wire.gen.ts';

const t = (message: string, ...values: (string | number)[]): string => message.replaceAll(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)]));

describe('what the server asks to be written', () => {
  let log: string[];
  let file: { text: string; dirty: boolean; saves: boolean } | undefined;
  let written: unknown[];

  const host = (): SettingsHost => ({
    t,
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

describe('a value of the workspace', () => {
  let confirmed: wire.SettingsConfirmParams[];
  let asked: string[];
  let says: 'accept' | 'ignore' | 'later';
  let trusted: boolean;
  const FILE = '/w/.vscode/settings.json';
  const bypass: wire.UnconfirmedItem = { key: 'countersign.agents.Claude.bypassPermissions', value: true, file: FILE, line: 3, digest: 'd1', text: 'Claude runs every tool without asking' };
  const rule: wire.UnconfirmedItem = { key: 'permissions.allow', value: 'Bash(npm test)', file: FILE, line: 4, digest: 'd2', text: 'it would run' };
  const agent: wire.UnconfirmedItem = { key: 'agents.Claude', value: { command: 'c' }, digest: 'd3', text: 'the agent' };

  const make = () =>
    createConfirmations(
      { request: async (_, params) => void confirmed.push(params as wire.SettingsConfirmParams) as never },
      {
        t,
        askAbout: async (message) => {
          asked.push(message);
          return says;
        },
        tell: () => undefined,
        trusted: () => trusted,
      },
    );
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    confirmed = [];
    asked = [];
    says = 'later';
    trusted = true;
  });

  it('is asked about once, and the answer is sent', async () => {
    const confirmations = make();
    says = 'accept';
    confirmations.unconfirmed({ items: [bypass] });
    await settled();
    confirmations.unconfirmed({ items: [bypass] });
    await settled();
    expect([asked.length, confirmed]).toEqual([1, [{ digest: 'd1', accept: true }]]);
  });

  it('that is refused stays refused', async () => {
    says = 'ignore';
    make().unconfirmed({ items: [bypass] });
    await settled();
    expect(confirmed).toEqual([{ digest: 'd1', accept: false }]);
  });

  it('that is put off sends nothing and comes back when wanted', async () => {
    const confirmations = make();
    confirmations.unconfirmed({ items: [bypass, rule] });
    await settled();
    expect([asked.length, confirmed]).toEqual([1, []]);
    await confirmations.review();
    expect(asked).toHaveLength(2);
  });

  it('is not asked about while the workspace is not trusted', async () => {
    trusted = false;
    make().unconfirmed({ items: [bypass] });
    await settled();
    expect(asked).toEqual([]);
  });

  const before = '{}';
  const after = '{"countersign.agents": {"Claude": {"command": "c", "bypassPermissions": true}}, "countersign.permissions.allow": ["Bash(npm test)"]}';
  type Steps = (confirmations: ReturnType<typeof make>) => void;
  const cases: [string, wire.UnconfirmedItem[], Steps, string[]][] = [
    ['typed and saved by hand is confirmed', [bypass, rule, agent], (it) => (it.loaded(FILE, before), it.savedByHand(FILE, after)), ['d1', 'd2', 'd3']],
    ['that came from disk is not, whatever else was saved', [bypass], (it) => (it.loaded(FILE, after), it.savedByHand(FILE, `${after} `)), []],
    ['that a tool wrote under an open file is not', [bypass], (it) => (it.loaded(FILE, before), it.loaded(FILE, after), it.savedByHand(FILE, `${after}\n`)), []],
    ['saved by auto save or by us is not', [bypass], (it) => (it.loaded(FILE, before), it.savedOtherwise(FILE, after)), []],
    ['in a file that was never seen on disk is not', [bypass], (it) => it.savedByHand(FILE, after), []],
    ['typed, then written over from disk, is not', [bypass], (it) => (it.loaded(FILE, before), it.savedByHand(FILE, after), it.loaded(FILE, `${after}\n\n`)), []],
    ['is not confirmed by typing another one', [rule], (it) => (it.loaded(FILE, before), it.savedByHand(FILE, '{"countersign.permissions.allow": ["Bash(ls)"]}')), []],
    ['of an agent is not confirmed by typing its bypass alone', [agent], (it) => (it.loaded(FILE, '{"countersign.agents": {"Claude": {"command": "c"}}}'), it.savedByHand(FILE, after)), []],
    ['of a closed file is not', [bypass], (it) => (it.loaded(FILE, before), it.savedByHand(FILE, after), it.closed(FILE)), []],
  ];
  it.each(cases)('%s', async (_, items, steps, digests) => {
    const confirmations = make();
    steps(confirmations);
    confirmations.unconfirmed({ items });
    await settled();
    expect(confirmed.map(({ digest, accept }) => accept && digest)).toEqual(digests);
  });

  it('that was listed before the save is confirmed by it', async () => {
    const confirmations = make();
    confirmations.loaded(FILE, before);
    trusted = false; // so that no question is in the way
    confirmations.unconfirmed({ items: [bypass] });
    confirmations.savedByHand(FILE, after);
    await settled();
    expect(confirmed).toEqual([{ digest: 'd1', accept: true }]);
  });
});
