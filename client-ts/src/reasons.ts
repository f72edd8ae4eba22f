/**
 * Texts of the server in the language of the window. The server says everything in English: that is what a request's
 * digest binds, what the ledger keeps and what a model reads. A table gives the translation of each of its templates,
 * and this module finds the template that a text was made from. What it does not find stays English. Pure.
 *
 * A template is found only by reading the text in one way alone; nothing is guessed. See decisions/015.
 */

/** Templates of the server's texts, with `{0}`, `{1}` … where it puts a value, and the translation of each. */
export type ReasonTable = Readonly<Record<string, string>>;

export interface Reasons {
  /** The text in the language of the table; undefined where it stays as it is. */
  translated(text: string): string | undefined;
}

/** Longer texts stay English; the server's sentences with a path in them are shorter. */
export const LONGEST = 2000;
/** Values that hold texts which hold texts. */
const DEPTH = 3;
/** Texts that the server joined to one; of more than that the rest counts as one. */
const PIECES = 12;
/** Lookups for one text, in which values and pieces are looked up too; a hostile text would need any number. */
const LOOKUPS = 250;
/** Results that are kept; a view draws the same few again and again. */
const KEPT = 500;
/** How the server joins texts. */
const JOINTS = ['; ', '. ', ': '] as const;

/** What stands for a backtick that opens, for one that closes, and for any value; no text of the server holds them. */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const VALUE = '\uE002';
const RESERVED = /[\uE000-\uE002]/;

/**
 * A piece of a template. A value in backticks holds no backtick, one elsewhere holds both or none of each pair; only
 * a value that is written right behind something may be empty. One between parentheses, and a last one behind a colon,
 * quotes. Values side by side are one.
 */
type Piece = { literal: string } | Value;

interface Value {
  value: string;
  inCode: boolean;
  mayBeEmpty: boolean;
  isQuoted: boolean;
  /** It may be a text of the server's again: it stands for itself between marks. Elsewhere it is a name or a word. */
  isText: boolean;
}

interface Template {
  pieces: readonly Piece[];
  /** The translation, cut at its values: those at odd places are holes. */
  translation: readonly string[];
  /** Templates that match whatever this one matches, as far as was asked for. */
  wider: Map<Template, boolean>;
  sample: Marked;
}

/** A text whose backticks are told apart, and for each place in it whether that lies between two. */
interface Marked {
  text: string;
  inCode: readonly boolean[];
}

/** What the values of a template hold in a text; `several` where the text can be read in more than one way. */
type Reading = ReadonlyMap<string, string> | 'several' | undefined;

export function createReasons(table: ReasonTable): Reasons {
  const plain = new Map(Object.entries(table).filter(([template]) => !hasValues(template)));
  /** Made when the first text is looked up: a window may never draw one. */
  let templates: readonly Template[] | undefined;
  const kept = new Map<string, string | undefined>();
  let lookups = 0;

  function whole(text: string, depth: number): string | undefined {
    if (++lookups > LOOKUPS) return undefined;
    const exact = plain.get(text);
    if (exact !== undefined) return exact;
    const marked = markedText(text);
    if (!marked) return undefined;
    templates ??= Object.entries(table).flatMap(([template, translation]) =>
      hasValues(template) ? (compile(template, translation) ?? []) : [],
    );
    const found = templates.flatMap((template) => {
      const reading = readingOf(template, marked);
      return reading === undefined ? [] : [{ template, reading }];
    });
    // One that also matches whatever another of them matches says less than that one.
    const narrowest = found.filter(
      (one) =>
        !found.some(
          (other) => other !== one && isWider(one.template, other.template) && !isWider(other.template, one.template),
        ),
    );
    const made = new Set(narrowest.map((one) => filled(one.template, one.reading, depth)));
    const [only] = made;
    return made.size === 1 ? only : undefined;
  }

  function filled({ pieces, translation }: Template, reading: Reading, depth: number): string | undefined {
    if (reading === 'several' || reading === undefined) return undefined;
    const values = new Map(pieces.flatMap((piece) => ('value' in piece ? [[piece.value, piece]] : [])));
    return translation
      .map((part, index) => {
        const value = index % 2 === 0 ? undefined : reading.get(part);
        if (value === undefined) return part;
        const { inCode, isText, isQuoted } = values.get(part)!;
        if (inCode || !/\s/.test(value)) return value;
        const known = isText && depth > 0 ? inPieces(value, depth - 1) : undefined;
        // Words that are not known stay where they are quoted; inside of a sentence they would leave it half translated.
        return known ?? (isQuoted || isList(value) ? value : undefined);
      })
      .reduce((made, part) => (made === undefined || part === undefined ? undefined : made + part), '');
  }

  /** The text as a whole, or as the fewest texts that were joined to it. */
  function joined(text: string, depth: number): string | undefined {
    const once = whole(text, depth);
    if (once !== undefined) return once;
    const joints = jointsOf(text);
    const made = joints.length === 0 ? undefined : fewest(text, joints, (piece) => whole(piece, depth)).made;
    if (made !== undefined || !text.endsWith('.')) return made;
    const sentence = joined(text.slice(0, -1), depth);
    return sentence === undefined ? undefined : `${sentence}.`;
  }

  function inPieces(text: string, depth: number): string | undefined {
    const made = joined(text, depth);
    if (made !== undefined) return made;
    // What stands before the first colon may be a name: that of the agent, or a rule.
    const [first] = jointsOf(text);
    if (first?.joint !== ': ' || !isName(text.slice(0, first.at))) return undefined;
    const behind = first.at + first.joint.length;
    const rest = joined(text.slice(behind), depth);
    return rest === undefined ? undefined : text.slice(0, behind) + rest;
  }

  return {
    translated(text) {
      if (text.length > LONGEST || RESERVED.test(text)) return undefined;
      if (!kept.has(text)) {
        if (kept.size >= KEPT) kept.clear();
        lookups = 0;
        const made = inPieces(text, DEPTH);
        kept.set(text, lookups > LOOKUPS ? undefined : made);
      }
      return kept.get(text);
    },
  };
}

/** Values as a template holds them; those side by side are one. */
const VALUES = /(?:\{\d+\})+/g;

/** Whether this table can find the template: its backticks are in pairs, and its translation has its values. */
export function isUsable(template: string, translation: string): boolean {
  return !hasValues(template) || compile(template, translation) !== undefined;
}

function hasValues(template: string): boolean {
  return /\{\d+\}/.test(template);
}

function compile(template: string, translation: string): Template | undefined {
  const marked = markedText(template);
  if (!marked) return undefined;
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of marked.text.matchAll(VALUES)) {
    if (match.index > end) pieces.push({ literal: marked.text.slice(end, match.index) });
    const inCode = marked.inCode[match.index]!;
    const mayBeEmpty = !inCode && match.index > 0 && marked.text[match.index - 1] !== ' ';
    const before = marked.text.slice(0, match.index);
    end = match.index + match[0].length;
    const behind = marked.text.slice(end);
    const isQuoted = (before.endsWith('(') && behind.startsWith(')')) || (/[:;] $/.test(before) && behind === '');
    const isText = /(?:^|[:;,.] |\(|\b(?:because|and) )$/.test(before) && /^(?:$|[:;,.)]| at offset )/.test(behind);
    pieces.push({ value: match[0], inCode, mayBeEmpty, isQuoted, isText });
  }
  if (end < marked.text.length) pieces.push({ literal: marked.text.slice(end) });
  const values = pieces.flatMap((piece) => ('value' in piece ? [piece.value] : []));
  const parts = translation.split(
    new RegExp(`(${values.map((value) => value.replaceAll(/[{}]/g, '\\$&')).join('|')})`),
  );
  const holes = parts.filter((_, index) => index % 2 === 1);
  if (holes.toSorted().join() !== values.toSorted().join()) return undefined;
  const sample = markedText(template.replaceAll(VALUES, VALUE))!;
  return { pieces, translation: parts, wider: new Map(), sample };
}

/** Undefined where a backtick has no other. */
function markedText(text: string): Marked | undefined {
  const parts = text.split('`');
  if (parts.length % 2 === 0) return undefined;
  const inCode: boolean[] = [];
  let made = '';
  parts.forEach((part, index) => {
    const code = index % 2 === 1;
    for (let at = 0; at < part.length; at++) inCode.push(code);
    made += part;
    if (index === parts.length - 1) return;
    // The place before a backtick that closes lies between two; the place before one that opens does not.
    inCode.push(code);
    made += code ? CLOSE : OPEN;
  });
  inCode.push(false);
  return { text: made, inCode };
}

/** Whether `one` matches whatever `other` matches. */
function isWider(one: Template, other: Template): boolean {
  const known = other.wider.get(one);
  if (known !== undefined) return known;
  const wider = readingOf(one, other.sample) !== undefined;
  other.wider.set(one, wider);
  return wider;
}

/** Linear in the text for each piece of the template. */
function readingOf({ pieces }: Template, { text, inCode }: Marked): Reading {
  if (!couldMatch(pieces, text)) return undefined;
  // In how many ways, none, one or more, the pieces so far can end at each place.
  const steps: Uint8Array[] = [];
  let ways = new Uint8Array(text.length + 1);
  ways[0] = 1;
  for (const piece of pieces) {
    steps.push(ways);
    const next = new Uint8Array(text.length + 1);
    if ('literal' in piece) {
      const { literal } = piece;
      for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1))
        next[at + literal.length] = ways[at]!;
    } else {
      let begun = 0;
      for (let at = 0; at <= text.length; at++) {
        if (piece.inCode && (text[at - 1] === OPEN || text[at - 1] === CLOSE)) begun = 0;
        if (inCode[at] !== piece.inCode) continue;
        if (piece.mayBeEmpty) begun = Math.min(2, begun + ways[at]!);
        next[at] = begun;
        if (!piece.mayBeEmpty) begun = Math.min(2, begun + ways[at]!);
      }
    }
    ways = next;
  }
  const found = ways[text.length]!;
  return found === 0 ? undefined : found > 1 ? 'several' : valuesOf(pieces, steps, text, inCode);
}

/** A name: one word, or words that each begin with a capital letter or are code. */
function isName(text: string): boolean {
  return text.split(' ').every((word, _, words) => words.length === 1 || /^[\p{Lu}\d`]/u.test(word));
}

/** Names or code side by side, and no words. */
function isList(value: string): boolean {
  return !/\s/.test(value.replaceAll(/`[^`]*`/g, '').replaceAll(', ', ''));
}

/** Quick to say no, which is the answer for nearly all templates. */
function couldMatch(pieces: readonly Piece[], text: string): boolean {
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if (!('literal' in piece)) continue;
    if (index === 0 ? !text.startsWith(piece.literal) : (at = text.indexOf(piece.literal, at)) < 0) return false;
    at += piece.literal.length;
  }
  const last = pieces.at(-1);
  return last === undefined || !('literal' in last) || text.endsWith(last.literal);
}

/** The values of the only reading, from the last to the first. */
function valuesOf(
  pieces: readonly Piece[],
  steps: readonly Uint8Array[],
  text: string,
  inCode: readonly boolean[],
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let end = text.length;
  for (let index = pieces.length - 1; index >= 0; index--) {
    const piece = pieces[index]!;
    const before = steps[index]!;
    if ('literal' in piece) {
      end -= piece.literal.length;
      continue;
    }
    let start = piece.mayBeEmpty ? end : end - 1;
    while (!before[start] || inCode[start] !== piece.inCode) start--;
    values.set(piece.value, text.slice(start, end).replaceAll(OPEN, '`').replaceAll(CLOSE, '`'));
    end = start;
  }
  return values;
}

interface Joint {
  at: number;
  joint: (typeof JOINTS)[number];
}

/** The places outside of backticks where the server may have joined two texts. */
function jointsOf(foreign: string): Joint[] {
  const marked = markedText(foreign);
  if (!marked) return [];
  const { text, inCode } = marked;
  const found: Joint[] = [];
  for (let at = 0; at < text.length && found.length < PIECES; at++) {
    const joint = inCode[at] ? undefined : JOINTS.find((one) => text.startsWith(one, at));
    if (joint) found.push({ at, joint });
  }
  return found;
}

/** The translations of the fewest pieces that make up the text; nothing where there are two such ways. */
function fewest(
  text: string,
  joints: readonly Joint[],
  translate: (piece: string) => string | undefined,
): { made: string | undefined } {
  const starts = [0, ...joints.map(({ at, joint }) => at + joint.length)];
  const ends = [...joints.map(({ at }) => at), text.length];
  /** For each start, from the last: the fewest pieces from there on, and what they make; undefined for two ways. */
  const best: ({ count: number; made: string | undefined } | undefined)[] = [];
  for (let from = starts.length - 1; from >= 0; from--) {
    for (let to = from; to < ends.length; to++) {
      const rest = to === ends.length - 1 ? { count: 0, made: '' } : best[to + 1];
      if (!rest) continue;
      const piece = translate(text.slice(starts[from], ends[to]));
      if (piece === undefined) continue;
      const known = best[from];
      const count = rest.count + 1;
      if (known && known.count < count) continue;
      const made = rest.made === undefined ? undefined : piece + (joints[to]?.joint ?? '') + rest.made;
      best[from] = { count, made: known?.count === count ? undefined : made };
    }
  }
  return { made: best[0]?.made };
}
