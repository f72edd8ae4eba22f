/**
 * Characters that show nothing or change the order of what is shown, made visible as escapes. What stands on a card
 * must be what will run, so a command with a hidden character looks like one. Pure.
 */
import { HIDDEN_RANGES } from './hidden.gen.ts';

/** The gate's table without tab and newline, which are drawn; and blanks that are no plain blank. */
const HIDDEN = new RegExp(`(?![\\t\\n ])[${HIDDEN_RANGES}\\p{Zs}]`, 'gu');

/** In running text, joiners and selectors are ordinary; what reorders or hides text is not. */
const HIDDEN_IN_PROSE = new RegExp(`(?![\\t\\n\\u200C\\u200D\\u180B-\\u180F\\uFE00-\\uFE0F])[${HIDDEN_RANGES}]`, 'gu');

export interface Piece {
  text: string;
  /** An escape that stands for a character that could not be seen. */
  escaped: boolean;
}

/** For commands, paths, file contents, input: every hidden character as an escape. */
export function reveal(text: string): string {
  return text.replaceAll(HIDDEN, escape);
}

/** For what has one line, such as a path or a title: newlines and tabs as escapes too. */
export function revealLine(text: string): string {
  return reveal(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** For what a model or a person says. */
export function revealProse(text: string): string {
  return text.replaceAll(HIDDEN_IN_PROSE, escape);
}

/** As `reveal`, in pieces, so that escapes can be drawn apart from text that merely looks like one. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const last = found.at(-1);
    // A run of escapes is one piece: a text of nothing else must not take an element for each character.
    if (match.index === end && last?.escaped) last.text += escape(match[0]);
    else {
      if (match.index > end) found.push({ text: text.slice(end, match.index), escaped: false });
      found.push({ text: escape(match[0]), escaped: true });
    }
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), escaped: false });
  return found;
}

export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0;
}

const NAMED: Record<string, string> = { '\r': '\\r', '\0': '\\0', '\u001B': '\\e', '\b': '\\b', '\u00A0': '\\xa0' };

function escape(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  return code <= 0xff ? `\\x${hex.padStart(2, '0')}` : code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}
