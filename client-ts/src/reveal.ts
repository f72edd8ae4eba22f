/**
 * Characters that show nothing or change the order of what is shown, made visible as escapes. What stands on a card
 * must be what will run, so a command with a hidden character looks like one. Pure.
 */

/**
 * Controls except tab and newline; soft hyphen, Arabic letter mark, Hangul and Khmer fillers, Mongolian separators;
 * zero-width, bidirectional and invisible operators; variation selectors, interlinear marks, tags; blanks that are no
 * plain blank; lone surrogates; private use.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are what is looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164\uE000-\uF8FF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB]|\u{1D173}|[\u{1D174}-\u{1D17A}]|[\u{E0000}-\u{E0FFF}]|[\u{F0000}-\u{10FFFF}]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/gu;

/** In running text, joiners and emoji selectors are ordinary; what reorders or hides text is not. */
const HIDDEN_IN_PROSE =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF0-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

export interface Piece {
  text: string;
  /** An escape that stands for a character that could not be seen. */
  escaped: boolean;
}

/** For commands, paths, file contents, input: every hidden character as an escape. */
export function reveal(text: string): string {
  return text.replaceAll(HIDDEN, escape);
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
    if (match.index > end) found.push({ text: text.slice(end, match.index), escaped: false });
    found.push({ text: escape(match[0]), escaped: true });
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
