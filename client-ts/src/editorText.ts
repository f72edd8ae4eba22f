/**
 * Text for the editor's own surfaces: messages, the status bar, quick picks, progress titles and dialogs. Owns the two
 * types that those surfaces take, and the functions that make them; calling the editor is editorWindow.ts's. Pure.
 *
 * The editor reads more than text in some places: `[text](command:…)` in a message becomes a link that runs a command of
 * the editor, and `$(name)` in a status bar item or a quick pick becomes an icon.
 *
 * INVARIANT (plain text): text of an agent, a model, a file, a server or a setting reaches a surface of the editor only
 * as an `EditorText` or a `DialogText`, and only this module makes those. A lint rule (lint/editorText.mjs) holds the rest.
 */
import { createReasons, type Reasons } from './reasons.ts';
import { reveal } from './reveal.ts';

declare const KIND: unique symbol;

/** One line for any surface of the editor: no link, no icon, nothing hidden, and no longer than it should be. */
export type EditorText = string & { readonly [KIND]: 'line' };

/** Lines for the detail of a modal, where the editor parses nothing: nothing hidden, bounded. */
export type DialogText = string & { readonly [KIND]: 'line' | 'lines' };

declare const SAFE: unique symbol;

/**
 * The label of a button that widens and loses nothing. Enter presses the first button of a modal, so that one is always
 * of this kind; only `safeButton` makes it.
 */
export type SafeButton = EditorText & { readonly [SAFE]: true };

export type SafeKind = 'changeNothing' | 'deny' | 'keepIgnoring';

/** Foreign text that keeps its line breaks where a `detail` quotes it. */
export interface Block {
  readonly lines: DialogText;
  /** How many characters are left out at the end; a `detail` says so. */
  readonly rest: number;
}

export interface Texts {
  /** A message of ours in the editor's language. Values are neutralized, each for itself. */
  t(message: string, ...values: (string | number)[]): EditorText;
  /** The same for the detail of a modal: values keep what they read like, only a `Block` keeps its line breaks. */
  detail(message: string, ...values: (string | number | Block)[]): DialogText;
  /** A text that the server wrote, in the editor's language where that is known; foreign text like any other. */
  fromServer(text: string): string;
  /** The button that comes first in a modal. */
  safeButton(kind: SafeKind): SafeButton;
}

/** Texts, and the native modal that asks with them. */
export interface Modals extends Texts {
  /** Gives the button pressed; undefined if the modal was closed. Enter presses the safe one. */
  choose(
    message: EditorText,
    detail: DialogText,
    safe: SafeButton,
    ...acting: EditorText[]
  ): Promise<string | undefined>;
}

/** Longer than any sentence of ours with a path in it; a server's error may quote a program's output. */
const LINE_LIMIT = 1000;
/** A name or a path inside a sentence. */
const VALUE_LIMIT = 500;
/** About what a modal can show on a small screen. */
export const BLOCK_LIMIT = 2000;
export const BLOCK_LINES = 30;

/** One line of foreign text. */
export function editorText(foreign: string, limit = LINE_LIMIT): EditorText {
  return clipped(inert(oneLine(clipped(foreign, limit))), limit) as EditorText;
}

/** A text of our own that is no sentence, such as an icon. The lint rule holds it to a literal. */
export function ownText(text: string): EditorText {
  return text as EditorText;
}

/** Foreign text over several lines, cut off where it is longer than a modal. */
export function block(foreign: string, limit = BLOCK_LIMIT): Block {
  const shown = whole(foreign.slice(0, limit)).split('\n').slice(0, BLOCK_LINES).join('\n');
  return { lines: reveal(shown) as DialogText, rest: foreign.length - shown.length };
}

/** Paragraphs of one detail; those that are empty are left out. */
export function paragraphs(...parts: (DialogText | false | undefined)[]): DialogText {
  return parts.filter(Boolean).join('\n\n') as DialogText;
}

/** `translate` gives a message of ours in the editor's language, without filling it; `reasons` those of the server. */
export function createTexts(translate: (message: string) => string, reasons: Reasons = createReasons({})): Texts {
  /** The message in pieces: what is ours, and the values in their holes. */
  const filled = <T>(message: string, values: readonly T[], asText: (value: T) => string): string[] =>
    translate(message)
      .split(/(\{\d+\})/)
      .map((piece) => {
        const hole = /^\{(\d+)\}$/.exec(piece);
        const value = hole ? values[Number(hole[1])] : undefined;
        return value === undefined ? piece : asText(value);
      });
  const t: Texts['t'] = (message, ...values) =>
    joined(filled(message, values, (value) => editorText(String(value), VALUE_LIMIT))) as EditorText;
  const detailed = (value: string | number | Block): string => {
    if (typeof value !== 'object') return oneLine(clipped(String(value), BLOCK_LIMIT));
    return value.rest === 0 ? value.lines : `${value.lines}${t('… ({0} more characters)', value.rest)}`;
  };
  const safe: Record<SafeKind, () => EditorText> = {
    changeNothing: () => t('Change Nothing'),
    deny: () => t('Deny'),
    keepIgnoring: () => t('Keep Ignoring'),
  };
  return {
    t,
    fromServer: (text) => reasons.translated(text) ?? text,
    detail: (message, ...values) => filled(message, values, detailed).join('') as DialogText,
    safeButton: (kind) => safe[kind]() as SafeButton,
  };
}

/** Pieces in a row, which make no link or icon together. */
function joined(pieces: readonly string[]): string {
  return pieces.reduce(
    (line, piece) => (/[\]$]$/.test(line) && piece.startsWith('(') ? `${line} ${piece}` : line + piece),
    '',
  );
}

function oneLine(text: string): string {
  return reveal(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Takes their meaning from the two forms that the editor reads in a line: links and icons. Both stay legible. */
function inert(text: string): string {
  return text.replaceAll('](', '] (').replaceAll('$(', '$ (');
}

function clipped(text: string, limit: number): string {
  return text.length <= limit ? text : `${whole(text.slice(0, limit - 1))}…`;
}

/** Without half a surrogate pair at the end. */
function whole(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
