/**
 * One setting changed in the text of a settings.json, with every other byte left alone: comments, order, formatting,
 * and entries that are not ours. Pure; who may ask for it and how it is saved is settings.ts's.
 *
 * The value may stand under a dotted key, in nested objects, or in a mixture; of duplicate keys the last is meant, as the
 * editor reads it. A file that does not parse is refused rather than guessed at.
 */
import { getNodeValue, type Node, parse, type ParseError, parseTree } from 'jsonc-parser';

export interface TextChange {
  offset: number;
  length: number;
  text: string;
}

export type SettingEdit = { changes: TextChange[] } | { refused: string };

/** Settings that are maps of names: their key in settings.json ends with the map, the rest is inside. */
const MAPS = new Set(['agents', 'models', 'mcpServers', 'hooks']);
const SECTION = 'countersign';

/** The changes that make `path` (below `countersign`) hold `value`; null removes it. Offsets are of `text`, not overlapping. */
export function editSetting(text: string, path: readonly string[], value: unknown): SettingEdit {
  const edit = proposedEdit(text, path, value);
  if ('refused' in edit) return edit;
  // Read again as the editor will read it: an edit that would not count is not made.
  const read = settingAt(settingsTree(withChanges(text, edit.changes)), path);
  return same(read ?? null, value ?? null)
    ? edit
    : { refused: `\`${[SECTION, ...path].join('.')}\` stands in the settings file more than once; change it by hand` };
}

/**
 * Everything below `countersign` as the editor reads it: dotted keys at the top are paths, keys further in are names;
 * of duplicate keys the last counts. A broken text gives what could be read of it.
 */
export function settingsTree(text: string): Tree {
  const file: unknown = parse(text, [], { allowTrailingComma: true });
  const root: Tree = {};
  for (const [key, value] of Object.entries(isTree(file) ? file : {})) {
    const names = key.split('.');
    let branch: Tree | undefined = root;
    for (const name of names.slice(0, -1)) {
      if (!branch) break;
      const next: unknown = Object.hasOwn(branch, name) ? branch[name] : (branch[name] = {});
      branch = isTree(next) ? next : undefined;
    }
    if (branch) branch[names.at(-1)!] = value;
  }
  const ours = root[SECTION];
  return isTree(ours) ? ours : {};
}

export function settingAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isTree(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    tree,
  );
}

export type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function proposedEdit(text: string, path: readonly string[], value: unknown): SettingEdit {
  const errors: ParseError[] = [];
  const root = text.trim() === '' ? undefined : parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || (root && root.type !== 'object'))
    return { refused: 'the settings file does not parse; correct it first' };
  if (path.length === 0) return { refused: 'there is no setting to change' };
  if (!root)
    return value === null
      ? { changes: [] }
      : {
          changes: [
            {
              offset: 0,
              length: text.length,
              text: `${written({ [topKey(path)]: nested(below(path), value) }, '', '    ', '\n')}\n`,
            },
          ],
        };
  const place = deepest(root, [SECTION, ...path], namesOfTopKey);
  if (place.property && place.rest.length === 0) {
    return {
      changes: value === null ? removal(text, place.parent, place.property) : replacement(text, place.property, value),
    };
  }
  const container = place.property ? valueOf(place.property) : root;
  if (value === null) return { changes: [] };
  if (container?.type !== 'object')
    return { refused: `\`${place.key}\` in the settings file is no object; correct it first` };
  const key = container === root ? topKey(path) : place.rest[0]!;
  const inner = container === root ? below(path) : place.rest.slice(1);
  return { changes: insertion(text, container, key, nested(inner, value)) };
}

/** The text with the changes made. */
export function withChanges(text: string, changes: readonly TextChange[]): string {
  return [...changes]
    .sort((one, other) => other.offset - one.offset)
    .reduce(
      (made, change) => made.slice(0, change.offset) + change.text + made.slice(change.offset + change.length),
      text,
    );
}

interface Place {
  parent: Node;
  property: Node | undefined;
  key: string;
  rest: readonly string[];
}

/** The property that stands for the longest part of `path`; among equals the last one of the file. */
function deepest(container: Node, path: readonly string[], namesOf: (key: string) => string[]): Place {
  let best: Place = { parent: container, property: undefined, key: '', rest: path };
  for (const property of container.children ?? []) {
    const names = namesOf(keyOf(property));
    if (names.length > path.length || !names.every((name, index) => name === path[index])) continue;
    const value = valueOf(property);
    const place: Place = { parent: container, property, key: keyOf(property), rest: path.slice(names.length) };
    const inside =
      value?.type === 'object' && place.rest.length > 0 ? deepest(value, place.rest, (key) => [key]) : place;
    const found = inside.property ? inside : place;
    if (found.rest.length <= best.rest.length) best = found;
  }
  return best;
}

function namesOfTopKey(key: string): string[] {
  return key.split('.');
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function valueOf(property: Node): Node | undefined {
  return property.children?.[1];
}

function topKey(path: readonly string[]): string {
  return [SECTION, ...(MAPS.has(path[0]!) ? path.slice(0, 1) : path)].join('.');
}

function below(path: readonly string[]): readonly string[] {
  return MAPS.has(path[0]!) ? path.slice(1) : [];
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function replacement(text: string, property: Node, value: unknown): TextChange[] {
  const node = valueOf(property)!;
  const old: unknown = getNodeValue(node);
  if (node.type === 'array' && Array.isArray(value) && Array.isArray(old)) {
    const changes = listChanges(text, node, old, value);
    if (changes) return changes;
  }
  if (same(old, value)) return [];
  const { eol, unit } = style(text);
  return [
    { offset: node.offset, length: node.length, text: written(value, indentAt(text, property.offset), unit, eol) },
  ];
}

/** Entries added at the end or taken out, each by itself; undefined if it is more than that. */
function listChanges(text: string, array: Node, old: unknown[], value: unknown[]): TextChange[] | undefined {
  if (value.length >= old.length && old.every((item, index) => same(item, value[index]))) {
    // From the last to the first at one place, each with its own comma.
    const added = value.slice(old.length).map((item) => JSON.stringify(item));
    return added.length === 0 ? [] : append(text, array, added);
  }
  const kept = old.map((item) => value.some((other) => same(item, other)));
  const left = old.filter((_, index) => kept[index]);
  if (left.length !== value.length || !left.every((item, index) => same(item, value[index]))) return undefined;
  const gone = (array.children ?? []).filter((_, index) => !kept[index]);
  return gone.length === 1 ? removal(text, array, gone[0]!) : undefined;
}

function insertion(text: string, container: Node, key: string, value: unknown): TextChange[] {
  const { eol, unit } = style(text);
  const first = container.children?.[0];
  const indent =
    first && onOwnLine(text, first.offset) ? indentAt(text, first.offset) : indentAt(text, container.offset) + unit;
  return append(text, container, [`${JSON.stringify(key)}: ${written(value, indent, unit, eol)}`]);
}

/** Entries put behind the last one of an object or an array. */
function append(text: string, container: Node, entries: string[]): TextChange[] {
  const { eol, unit } = style(text);
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const indent =
    last && onOwnLine(text, last.offset) ? indentAt(text, last.offset) : indentAt(text, container.offset) + unit;
  const end = trimmedEnd(text, close);
  if (!last) {
    const lines = entries.map((entry) => `${eol}${indent}${entry}`).join(',');
    return [{ offset: end, length: close - end, text: `${lines}${eol}${indentAt(text, container.offset)}` }];
  }
  const lastEnd = last.offset + last.length;
  const comma = commaAfter(text, lastEnd, close);
  const oneLine = !text.slice(container.offset, close).includes('\n');
  const added = entries.map((entry) => (oneLine ? ` ${entry}` : `${eol}${indent}${entry}`)).join(',');
  if (comma !== undefined) return [{ offset: end, length: 0, text: added }];
  if (end === lastEnd) return [{ offset: end, length: 0, text: `,${added}` }];
  return [
    { offset: lastEnd, length: 0, text: ',' },
    { offset: end, length: 0, text: added },
  ];
}

function removal(text: string, container: Node, entry: Node): TextChange[] {
  const close = container.offset + container.length - 1;
  const end = entry.offset + entry.length;
  const comma = commaAfter(text, end, close);
  const start = onOwnLine(text, entry.offset) ? lineBreakBefore(text, entry.offset) : entry.offset;
  const changes: TextChange[] = [{ offset: start, length: (comma === undefined ? end : comma + 1) - start, text: '' }];
  const siblings = container.children ?? [];
  const before = siblings[siblings.indexOf(entry) - 1];
  if (comma === undefined && before) {
    const left = commaAfter(text, before.offset + before.length, entry.offset);
    if (left !== undefined) changes.push({ offset: left, length: 1, text: '' });
  }
  return changes;
}

/** Where the comma after `from` stands, comments skipped; undefined if `until` comes first. */
function commaAfter(text: string, from: number, until: number): number | undefined {
  for (let at = from; at < until; at++) {
    if (text[at] === ',') return at;
    if (text.startsWith('//', at)) at = endOr(text.indexOf('\n', at), until);
    else if (text.startsWith('/*', at)) at = endOr(text.indexOf('*/', at), until) + 1;
  }
  return undefined;
}

function endOr(found: number, otherwise: number): number {
  return found < 0 ? otherwise : found;
}

function trimmedEnd(text: string, close: number): number {
  let end = close;
  while (end > 0 && /\s/.test(text[end - 1]!)) end--;
  return end;
}

function onOwnLine(text: string, offset: number): boolean {
  return /(^|\n)[ \t]*$/.test(text.slice(Math.max(0, offset - 400), offset));
}

function lineBreakBefore(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && /[ \t]/.test(text[start - 1]!)) start--;
  if (text[start - 1] === '\n') start--;
  if (text[start - 1] === '\r') start--;
  return start;
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))![0];
}

function style(text: string): { eol: string; unit: string } {
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '    ' };
}

function written(value: unknown, indent: string, unit: string, eol: string): string {
  return JSON.stringify(value, null, unit)
    .split('\n')
    .join(eol + indent);
}
