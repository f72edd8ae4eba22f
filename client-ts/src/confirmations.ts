/**
 * Values in the workspace's settings that loosen something and wait for a person: asks about each once in a native
 * modal, or confirms at once what the person typed and saved in this window themselves.
 *
 * INVARIANT (narrowing): only extension code gets here. A value counts as typed by the person only if they saved the
 * settings file by hand in this window, and the value differs from the text as last loaded from disk: whatever a tool
 * or a checkout wrote came from disk, and is asked about.
 */
import { asServerError, type Link } from './link.ts';
import { reveal } from './reveal.ts';
import { settingsTree, type Tree } from './settingEdit.ts';
import type * as wire from './wire.gen.ts';

export interface ConfirmationsHost {
  t(message: string, ...values: (string | number)[]): string;
  /** A native modal about one value. `later` when it was closed without an answer. */
  askAbout(message: string, detail: string): Promise<'accept' | 'ignore' | 'later'>;
  tell(level: 'info' | 'warning' | 'error', message: string): void;
  trusted(): boolean;
}

export interface Confirmations {
  /** The server's list, which replaces the one before. */
  unconfirmed(params: wire.SettingsUnconfirmed): void;
  /** Asks about everything open, also what was put off; for the command and for a grant of trust. */
  review(): Promise<void>;
  open(): number;
  /** A settings file was opened, reverted or reloaded: `text` is what lies on disk. */
  loaded(file: string, text: string): void;
  /** The person saved the file by hand in this window. */
  savedByHand(file: string, text: string): void;
  /** It was saved otherwise: by us, by auto save, by a tool. */
  savedOtherwise(file: string, text: string): void;
  closed(file: string): void;
}

interface Edit {
  before: Tree;
  after: Tree;
}

export function createConfirmations(link: Pick<Link, 'request'>, host: ConfirmationsHost): Confirmations {
  let items: readonly wire.UnconfirmedItem[] = [];
  const onDisk = new Map<string, string>();
  /** The person's last saving by hand of each file, until the file comes from disk again with other text. */
  const edits = new Map<string, Edit>();
  const asked = new Set<string>();
  let asking: Promise<void> | undefined;

  function isByPerson(item: wire.UnconfirmedItem): boolean {
    return [...edits.values()].some(({ before, after }) => holds(after, item) && !holds(before, item));
  }

  async function answer(item: wire.UnconfirmedItem, accept: boolean): Promise<void> {
    asked.add(item.digest);
    items = items.filter((one) => one.digest !== item.digest);
    try {
      await link.request('settings/confirm', { digest: item.digest, accept });
    } catch (error) {
      host.tell('error', host.t('{0} could not be confirmed: {1}', item.key, asServerError(error).message));
    }
  }

  async function askEach(): Promise<void> {
    for (let next = nextItem(); next; next = nextItem()) {
      const said = await host.askAbout(
        host.t('This workspace wants to set {0}', next.key),
        [quoted(next.text), valueText(next), next.file ? place(next) : '', host.t('Until you accept it, it is ignored.')].filter(Boolean).join('\n\n'),
      );
      // Put off: nothing is said to the server, and nothing more is asked until the person wants it.
      if (said === 'later') return items.forEach((item) => asked.add(item.digest));
      await answer(next, said === 'accept');
    }
  }

  function nextItem(): wire.UnconfirmedItem | undefined {
    return host.trusted() ? items.find((item) => !asked.has(item.digest)) : undefined;
  }

  function askAll(): Promise<void> {
    asking ??= askEach().finally(() => (asking = undefined));
    return asking;
  }

  return {
    unconfirmed(params) {
      items = params.items;
      for (const item of items.filter(isByPerson)) void answer(item, true);
      void askAll();
    },
    review() {
      asked.clear();
      return askAll();
    },
    open: () => items.length,
    loaded(file, text) {
      if (onDisk.get(file) !== text) edits.delete(file);
      onDisk.set(file, text);
    },
    savedByHand(file, text) {
      const before = onDisk.get(file);
      onDisk.set(file, text);
      if (before === undefined || before === text) return;
      edits.set(file, { before: settingsTree(before), after: settingsTree(text) });
      for (const item of items.filter(isByPerson)) void answer(item, true);
    },
    savedOtherwise(file, text) {
      onDisk.set(file, text);
      edits.delete(file);
    },
    closed(file) {
      onDisk.delete(file);
      edits.delete(file);
    },
  };
}

/** A dialog shows plain text. */
function quoted(text: string): string {
  return reveal(text).replaceAll(/`([^`]*)`/g, '“$1”');
}

/** The value in full, unless the sentence about it holds it already. */
function valueText(item: wire.UnconfirmedItem): string {
  const text = typeof item.value === 'string' ? item.value : (JSON.stringify(item.value, null, 2) ?? '');
  return item.text.includes(text) ? '' : reveal(text);
}

function place(item: wire.UnconfirmedItem): string {
  return item.line === undefined ? String(item.file) : `${item.file}:${item.line}`;
}

/**
 * Whether the settings hold the item's value at its key, or, where that is a list, among the list's entries. An agent's
 * item leaves its bypass out, which is an item of its own.
 */
function holds(tree: Tree, item: wire.UnconfirmedItem): boolean {
  const key = item.key.replace(/^countersign\./, '');
  return found(tree, key).some(
    (value) => equal(value, item.value) || equal(withoutBypass(value), item.value) || (Array.isArray(value) && value.some((entry) => equal(entry, item.value))),
  );
}

function withoutBypass(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'bypassPermissions'));
}

/** Values at a dotted key, where names may hold dots themselves. */
function found(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (name === key) return [inner];
    return key.startsWith(`${name}.`) ? found(inner, key.slice(name.length + 1)) : [];
  });
}

function equal(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1))) : inner,
  );
}
