/**
 * Which values of a settings file the person typed and saved themselves in this window, so that no dialog has to ask
 * about what they just wrote. Follows each file's texts; asking and confirming is confirmations.ts's. Pure.
 *
 * INVARIANT (narrowing): a value counts as typed only if all of this holds; in doubt it does not, and is asked about.
 * 1. It stands in the item's own file, at one place only.
 * 2. The text before, as last loaded from disk, and the text after are both without errors, duplicate keys and keys
 *    that overlap, so that both mean what they show.
 * 3. Every part of the value is new: inserted by this edit, and in none of the texts that the file had in this window.
 *    A value that was merely uncovered, moved, put together or brought back is not new.
 * 4. The save was asked for by the person, and wrote what was in the editor when it began.
 */
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';

import type * as wire from './wire.gen.ts';

export interface TypedValues {
  loaded(file: string, text: string): void;
  changed(file: string): void;
  willSave(file: string, text: string, manual: boolean): void;
  saved(file: string, text: string): void;
  editedByUs(file: string): void;
  closed(file: string): void;
  isTyped(item: wire.UnconfirmedItem): boolean;
}

interface FileState {
  /** What lies on disk, as far as it was seen. */
  onDisk?: string;
  saving?: { text: string; manual: boolean };
  /** The last save that the person asked for, until the text on disk becomes another one. */
  edit?: Edit;
  /** Every text the file had, decoded; undefined once they were too many to keep. */
  past?: Past[];
}

interface Edit {
  before: string;
  after: string;
  past: readonly Past[];
}

/** A text that the file had: as it is, with its escapes decoded, and as a tree where it means what it shows. */
interface Past {
  text: string;
  decoded: string;
  root: Node | undefined;
}

/** A settings file is some kilobytes; one that changed more often than this asks about everything. */
const PAST_COUNT = 200;
const PAST_SIZE = 4 * 1024 * 1024;
/** An entry of an agent has about ten. */
const PARTS = 200;

export function createTypedValues(): TypedValues {
  const files = new Map<string, FileState>();

  function stateOf(file: string): FileState {
    let state = files.get(file);
    if (!state) files.set(file, (state = { past: [] }));
    return state;
  }

  function remember(state: FileState, text: string): void {
    state.onDisk = text;
    if (!state.past || state.past.some((one) => one.text === text)) return;
    state.past = [...state.past, { text, decoded: decoded(text), root: strictTree(text) }];
    const size = state.past.reduce((sum, one) => sum + one.text.length, 0);
    if (state.past.length > PAST_COUNT || size > PAST_SIZE) state.past = undefined;
  }

  return {
    loaded(file, text) {
      const state = stateOf(file);
      if (state.onDisk !== text) state.edit = undefined;
      state.saving = undefined;
      remember(state, text);
    },
    changed(file) {
      stateOf(file).saving = undefined;
    },
    willSave(file, text, manual) {
      stateOf(file).saving = { text, manual };
    },
    saved(file, text) {
      const state = stateOf(file);
      const { onDisk: before, saving, past } = state;
      state.saving = undefined;
      const manual = saving?.manual === true && saving.text === text;
      if (before !== text || !manual) state.edit = undefined;
      if (manual && before !== undefined && before !== text && past) state.edit = { before, after: text, past };
      remember(state, text);
    },
    editedByUs(file) {
      // Until the next text from disk nothing is known of who wrote what.
      Object.assign(stateOf(file), { onDisk: undefined, saving: undefined, edit: undefined });
    },
    closed(file) {
      Object.assign(stateOf(file), { onDisk: undefined, saving: undefined, edit: undefined });
    },
    isTyped(item) {
      const edit = item.file === undefined ? undefined : files.get(item.file)?.edit;
      return edit !== undefined && isNew(edit, item);
    },
  };
}

function isNew(edit: Edit, item: wire.UnconfirmedItem): boolean {
  const after = strictTree(edit.after);
  if (!after || !strictTree(edit.before)) return false;
  const node = placeOf(after, item);
  if (!node) return false;
  const parts = partsOf(node, item.key);
  if (parts.length === 0 || parts.length > PARTS) return false;
  if (isText(node) && !isInserted(edit, node)) return false;
  return parts.every((part) => edit.past.every((past) => isAbsent(part, past)));
}

/** The one node of the item's value; undefined if there is none, or more than one. */
function placeOf(root: Node, item: wire.UnconfirmedItem): Node | undefined {
  const nodes = nodesAt(root, item.key);
  const [node] = nodes;
  if (!node || nodes.length > 1) return undefined;
  const value: unknown = getNodeValue(node);
  if (equal(value, item.value) || equal(withoutBypass(value), item.value)) return node;
  const entries =
    node.type === 'array' ? (node.children ?? []).filter((entry) => equal(getNodeValue(entry), item.value)) : [];
  return entries.length === 1 ? entries[0] : undefined;
}

/** A scalar or a name in a value. `key`: the setting that a scalar without a text of its own stands at. */
type Part = { text: string } | { value: unknown; key: string };

function partsOf(node: Node, key: string, depth = 0): Part[] {
  if (node.type === 'string') return [{ text: String(node.value) }];
  if (node.type === 'object' && node.children?.length) {
    return node.children.flatMap((property) => {
      const name = String(property.children?.[0]?.value);
      const value = property.children?.[1];
      if (!value) return [];
      // The names of an entry's own settings stand in every entry; those further in, as of `env`, are the person's.
      const ofName: Part[] = depth > 0 ? [{ text: name }] : [];
      return [...ofName, ...partsOf(value, `${key}.${name}`, depth + 1)];
    });
  }
  if (node.type === 'array' && node.children?.length)
    return node.children.flatMap((entry) => partsOf(entry, key, depth + 1));
  return [{ value: getNodeValue(node) as unknown, key }];
}

function isAbsent(part: Part, past: Past): boolean {
  if ('text' in part)
    return (
      !past.text.includes(part.text) &&
      !past.decoded.includes(part.text) &&
      !past.text.includes(JSON.stringify(part.text).slice(1, -1))
    );
  // `true` stands everywhere: the setting's own name may only stand where it counted, with another value.
  const name = lastName(part.key);
  const times = past.decoded.split(name).length - 1;
  if (times === 0) return true;
  const nodes = past.root ? nodesAt(past.root, part.key) : [];
  return times === 1 && nodes.length === 1 && !equal(getNodeValue(nodes[0]!), part.value);
}

/** Whether all of a text or of what holds texts was put in by the edit, read in either direction. */
function isInserted({ before, after }: Edit, node: Node): boolean {
  const quotes = node.type === 'string' ? 1 : 0;
  const [start, end] = [node.offset + quotes, node.offset + node.length - quotes];
  const most = Math.min(before.length, after.length);
  const head = sharedHead(before, after, most);
  const tail = sharedTail(before, after, most);
  const windows = [
    [head, after.length - Math.min(tail, most - head)],
    [Math.min(head, most - tail), after.length - tail],
  ] as const;
  return windows.some(([from, to]) => from <= start && end <= to);
}

function sharedHead(one: string, other: string, most: number): number {
  let count = 0;
  while (count < most && one[count] === other[count]) count++;
  return count;
}

function sharedTail(one: string, other: string, most: number): number {
  let count = 0;
  while (count < most && one.at(-1 - count) === other.at(-1 - count)) count++;
  return count;
}

function isText(node: Node): boolean {
  return node.type === 'string' || node.type === 'object' || node.type === 'array';
}

/** The file as a tree if it means what it shows; an empty file is an empty object. */
function strictTree(text: string): Node | undefined {
  if (text.trim() === '') return parseTree('{}');
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || root?.type !== 'object' || hasDuplicates(root)) return undefined;
  const keys = (root.children ?? []).map(keyOf);
  const overlap = keys.some((key) => keys.some((other) => other !== key && other.startsWith(`${key}.`)));
  return overlap ? undefined : root;
}

function hasDuplicates(node: Node): boolean {
  const children = node.children ?? [];
  if (node.type === 'object' && new Set(children.map(keyOf)).size !== children.length) return true;
  return children.some(hasDuplicates);
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function lastName(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** Values at a dotted key below `countersign`; names may hold dots themselves, so there may be several. */
function nodesAt(root: Node, key: string): Node[] {
  return found(root, key.startsWith('countersign.') ? key : `countersign.${key}`);
}

function found(node: Node, key: string): Node[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap((property) => {
    const name = keyOf(property);
    const value = property.children?.[1];
    if (!value) return [];
    if (name === key) return [value];
    return key.startsWith(`${name}.`) ? found(value, key.slice(name.length + 1)) : [];
  });
}

/** The text with JSON's escapes read, wherever they stand, in comments too. */
function decoded(text: string): string {
  return text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\(["\\/])/g, '$1');
}

/** An agent's bypass is an item of its own. */
function withoutBypass(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'bypassPermissions'));
}

function equal(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
