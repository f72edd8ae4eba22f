/**
 * Generated editing histories: whatever a hostile repository hides in a settings file, and however a person mends and
 * saves it, nothing but what the person typed counts as theirs. Every text in a history knows who wrote it by its name.
 */
import { describe, expect, it } from 'vitest';

import { createConfirmations } from '../src/confirmations.ts';
import { createTexts } from '../src/editorText.ts';
import { settingAt, settingsTree } from './settingsTree.ts';
import type * as wire from '../src/wire.gen.ts';

const HISTORIES = 3000;
const STEPS = 14;
const FILES = ['/w/.vscode/settings.json', '/w/sub/.vscode/settings.json'];

/** The same histories each time. */
function generator(seed: number) {
  let state = seed * 2_654_435_761;
  const next = (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) | 0;
    return ((state >>> 8) & 0xff_ffff) % below;
  };
  return { next, one: <T>(from: readonly T[]): T => from[next(from.length)]! };
}

/** Everything that a history's model keeps of one file. */
interface Model {
  file: string;
  disk: string;
  /** The text on disk as the editor last saw it. */
  seen: string;
  buffer: string | undefined;
  /** Names that the person typed into this very file. */
  typed: Set<string>;
}

type Random = ReturnType<typeof generator>;

/** A part of a settings file that loosens something, written by `who`. */
function loosening(who: string, number: number, { one }: Random): string {
  const name = `${who}${number}`;
  return one([
    `"countersign.permissions.allow": ["Bash(${name}:*)"]`,
    `"countersign.permissions": {"allow": ["Bash(${name})", "Read(${name}.txt)"]}`,
    `"countersign": {"permissions": {"allow": ["Bash(${name})"]}}`,
    `"countersign.agents": {"${name}": {"bypassPermissions": true}}`,
    `"countersign.agents": {"${name}": {"command": "./${name}", "args": ["--${name}"], "cwd": "/${name}"}}`,
    `"countersign.agents": {"${name}": {"env": {"LD_${name}": "${name}.so"}}}`,
    `"countersign.defaultAgent": "${name}"`,
  ]);
}

/** Ways in which text stands in a file without counting, or without being seen. */
function hidden(part: string, { one }: Random): string {
  return one([
    `{// ${part}\n}`,
    `{/* ${part} */}`,
    `{/* ${part}}`,
    `x\n{${part}}`,
    `[{${part}}]`,
    `{"[python]": {${part}}}`,
    `{${part}, "countersign.permissions": null, "countersign.permissions.allow": [], "countersign.agents": {}}`,
    `{"a": "unclosed, ${part}}`,
    `{${part.replace('countersign', 'countersigm')}}`,
    `{${part.replace('Bash(', '\\u0042ash(').replace('true', 'false')} // ${part}\n}`,
    `{${part}} trailing`,
    `{${part}`,
    `{${part}}`,
  ]);
}

/** What a person does to mend or tidy, none of which writes anything loosening. */
function mended(text: string, { one }: Random): string {
  return one<(text: string) => string>([
    (it) => it.replace(/^x\n/, ''),
    (it) => it.replace(/^\[([^]*)\]$/, '$1'),
    (it) => it.replace('// ', ''),
    (it) => it.replace('/* ', '').replace(' */', ''),
    (it) => it.replace('/* ', '/* */ '),
    (it) => it.replace(/, "countersign\.permissions": null[^}]*\{\}/, ''),
    (it) => it.replace(/"\[python\]": \{([^]*)\}\}$/, '$1}'),
    (it) => it.replace('"a": "unclosed, ', ''),
    (it) => it.replace('countersigm', 'countersign'),
    (it) => it.replace('false', 'true'),
    (it) => it.replace(' trailing', ''),
    (it) => `${it}}`,
    (it) => it.replace(/\n/g, ' '),
    (it) => `${it}\n`,
    () => '{}',
  ])(text);
}

function typed(text: string, part: string, { one }: Random): string {
  return one<(text: string) => string>([
    () => `{${part}}`,
    (it) => (it.trim() === '' || it.trim() === '{}' ? `{${part}}` : it.replace(/\}\s*$/, `, ${part}}`)),
    (it) => it.replace('{', `{${part}, `),
    (it) => it.replace('["', `["Bash(${/(?:typed|evil)\d+/.exec(part)![0]})", "`),
  ])(text);
}

/** What a server would list for the file: each rule, each agent without its bypass, each bypass. */
function listed(file: string, text: string): wire.UnconfirmedItem[] {
  const tree = settingsTree(text);
  const items: [string, unknown][] = [];
  const allow = settingAt(tree, ['permissions', 'allow']);
  if (Array.isArray(allow)) items.push(...allow.map((rule): [string, unknown] => ['permissions.allow', rule]));
  const agents = settingAt(tree, ['agents']);
  if (typeof agents === 'object' && agents !== null && !Array.isArray(agents)) {
    for (const [name, entry] of Object.entries(agents as Record<string, object>)) {
      const { bypassPermissions, ...rest } = entry as Record<string, unknown>;
      if (bypassPermissions === true) items.push([`agents.${name}.bypassPermissions`, true]);
      if (Object.keys(rest).length > 0) items.push([`agents.${name}`, rest]);
    }
  }
  if (settingAt(tree, ['defaultAgent']) !== undefined) items.push(['defaultAgent', settingAt(tree, ['defaultAgent'])]);
  return items.map(([key, value]) => ({
    key: `countersign.${key}`,
    value,
    file,
    digest: JSON.stringify([file, key, value]),
    text: key,
  }));
}

/** Runs one history; gives the digests that were confirmed without a question, in order, and those of them with a part that nobody had typed there. */
function run(seed: number): { confirmed: string[]; story: string[]; allowed: Set<string>; strange: string[] } {
  const random = generator(seed);
  const { next, one } = random;
  const confirmed: string[] = [];
  const strange: string[] = [];
  const story: string[] = [];
  /** Digests that stood in a file right after the person saved it by hand, since it was last read from disk. */
  const allowed = new Set<string>();
  const confirmations = createConfirmations(
    {
      request: async (_, params) => {
        const { digest, accept } = params as wire.SettingsConfirmParams;
        if (!accept) return {} as never;
        confirmed.push(digest);
        const own = models.find(({ file }) => file === (JSON.parse(digest) as string[])[0])!;
        if (!(digest.match(/(?:typed|evil)\d+/g) ?? ['']).every((name) => own.typed.has(name))) strange.push(digest);
        return {} as never;
      },
    },
    {
      ...createTexts((message) => message),
      choose: () => Promise.resolve(undefined),
      tell: () => undefined,
      openFile: async () => undefined,
      trusted: () => false,
    },
  );
  const models: Model[] = FILES.map((file) => ({
    file,
    disk: one(['', '{}', '{"editor.tabSize": 2}', hidden(loosening('evil', next(9), random), random)]),
    seen: '',
    buffer: undefined,
    typed: new Set(),
  }));
  const tell = (): void => confirmations.unconfirmed({ items: models.flatMap(({ file, disk }) => listed(file, disk)) });
  const finish = (model: Model, text: string): void => {
    model.disk = model.seen = text;
    confirmations.saved(model.file, text);
  };
  for (let step = 0; step < STEPS; step++) {
    const model = one(models);
    const { file } = model;
    const action = one([
      'open',
      'type',
      'type',
      'mend',
      'mend',
      'manual',
      'manual',
      'manual',
      'auto',
      'unseen',
      'failed',
      'checkout',
      'ours',
      'close',
      'tell',
      'undo',
    ]);
    const number = step * 10 + next(9);
    if (model.buffer === undefined || action === 'open') {
      if (model.buffer === undefined) confirmations.loaded(file, (model.buffer = model.seen = model.disk));
    } else if (action === 'type' || action === 'mend' || action === 'undo') {
      // Few names, so that the other file may hold the same text.
      const name = next(12);
      if (action === 'type') model.typed.add(`typed${name}`);
      model.buffer =
        action === 'type'
          ? typed(model.buffer, loosening('typed', name, random), random)
          : action === 'mend'
            ? mended(model.buffer, random)
            : model.seen;
      confirmations.changed(file);
    } else if (action === 'manual') {
      confirmations.willSave(file, model.buffer, true);
      for (const item of listed(file, model.buffer)) allowed.add(item.digest);
      finish(model, model.buffer);
    } else if (action === 'auto') {
      confirmations.willSave(file, model.buffer, false);
      finish(model, model.buffer);
    } else if (action === 'unseen') {
      finish(model, model.buffer);
    } else if (action === 'failed') {
      confirmations.willSave(file, model.buffer, true);
      confirmations.changed(file);
    } else if (action === 'checkout') {
      const written = hidden(loosening('evil', number, random), random);
      model.disk = one([
        written,
        models.find((other) => other !== model)!.buffer ?? written,
        typed(model.disk, loosening('evil', number, random), random),
      ]);
      // The editor reloads a clean file; a dirty one stays, over a file on disk that it has not seen.
      if (one([true, false])) confirmations.loaded(file, (model.buffer = model.seen = model.disk));
    } else if (action === 'ours') {
      confirmations.editedByUs(file);
      model.buffer = typed(model.buffer, loosening('evil', number, random), random);
      confirmations.changed(file);
      if (one([true, false])) {
        confirmations.willSave(file, model.buffer, false);
        finish(model, model.buffer);
      }
    } else if (action === 'close') {
      confirmations.closed(file);
      model.buffer = undefined;
    }
    story.push(`${action} ${file}: ${model.buffer ?? '-'}`);
    if (action === 'tell' || next(2) === 0) tell();
  }
  tell();
  return { confirmed, story, allowed, strange };
}

describe('over generated histories', () => {
  const histories = Array.from({ length: HISTORIES }, (_, seed) => ({ seed, ...run(seed + 1) }));

  it('nothing that the person did not type is confirmed without a question', () => {
    for (const { seed, strange, story } of histories) {
      expect(strange, `history ${seed}:\n${story.join('\n')}`).toEqual([]);
    }
  });

  it('nothing is confirmed that did not stand in its own file at a save by hand, and nothing twice', () => {
    for (const { seed, confirmed, story, allowed } of histories) {
      expect(
        confirmed.filter((digest) => !allowed.has(digest)),
        `history ${seed}:\n${story.join('\n')}`,
      ).toEqual([]);
      expect(new Set(confirmed).size, `history ${seed}:\n${story.join('\n')}`).toBe(confirmed.length);
    }
  });

  it('what was simply typed and saved by hand is not asked about', () => {
    expect(histories.filter(({ confirmed }) => confirmed.length > 0).length).toBeGreaterThan(HISTORIES / 20);
  });
});
