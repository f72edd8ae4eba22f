/** The changes between two texts, each of which can be left out; and what an editor cannot be trusted to show. Pure. */
import { diffLines } from 'diff';

import { hasHidden } from './reveal.ts';

/** Lines that take the place of others. Line numbers begin at 0; either list may be empty. */
export interface Change {
  oldStart: number;
  removed: readonly string[];
  newStart: number;
  added: readonly string[];
}

interface Piece {
  before: string;
  after: string;
}

/** Past this much work the whole text counts as one change. */
const EDIT_LIMIT = 1500;
/** Columns; a longer line takes more rows than an editor shows of it at once, or is not drawn to its end. */
const LINE_LIMIT = 500;
const TAB = 8;
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

export function changesOf(before: string, after: string): Change[] {
  const changes: Change[] = [];
  let oldLine = 0;
  let newLine = 0;
  for (const piece of piecesOf(before, after)) {
    const removed = linesOf(piece.before);
    const added = linesOf(piece.after);
    if (piece.before !== piece.after) changes.push({ oldStart: oldLine, removed, newStart: newLine, added });
    oldLine += removed.length;
    newLine += added.length;
  }
  return changes;
}

/** The text after the changes, without those whose index is in `leftOut`. */
export function withoutChanges(before: string, after: string, leftOut: ReadonlySet<number>): string {
  let index = -1;
  return piecesOf(before, after)
    .map((piece) => {
      if (piece.before === piece.after) return piece.after;
      index++;
      return leftOut.has(index) ? piece.before : piece.after;
    })
    .join('');
}

/**
 * The first changed line, counted from 1, that an editor may show otherwise than it is: with hidden or right-to-left
 * characters, too long to be in view at once, or unlike another line only in blanks at its ends, which diff editors can
 * be set to ignore. Undefined if every change can be shown.
 */
export function firstUnclear(before: string, after: string, blanksMarked: boolean): number | undefined {
  const crlf = allCrlf(before) && allCrlf(after);
  const text = (line: string): string => (crlf && line.endsWith('\r') ? line.slice(0, -1) : line);
  for (const { removed, added, newStart, oldStart } of changesOf(before, after)) {
    const changesBlanks = (line: string): boolean =>
      !blanksMarked && removed.some((other) => other !== line && other.trim() === line.trim());
    for (const [index, line] of added.entries())
      if (isUnclear(text(line)) || changesBlanks(line)) return newStart + index + 1;
    for (const [index, line] of removed.entries()) if (isUnclear(text(line))) return oldStart + index + 1;
  }
  return undefined;
}

/** Whether one line of text may be drawn otherwise than it reads. */
export function isUnclear(line: string): boolean {
  const columns = line.length + (line.split('\t').length - 1) * (TAB - 1);
  return columns > LINE_LIMIT || hasHidden(line) || RIGHT_TO_LEFT.test(line);
}

function piecesOf(before: string, after: string): Piece[] {
  const found = diffLines(before, after, { maxEditLength: EDIT_LIMIT }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  const pieces: Piece[] = [];
  let changing: Piece | undefined;
  for (const { value, added, removed } of found) {
    if (!added && !removed) {
      changing = undefined;
      pieces.push({ before: value, after: value });
      continue;
    }
    if (!changing) pieces.push((changing = { before: '', after: '' }));
    if (added) changing.after += value;
    else changing.before += value;
  }
  return pieces;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function allCrlf(text: string): boolean {
  return !/(^|[^\r])\n/.test(text) && !/\r(?!\n)/.test(text);
}
