/**
 * A unified diff of two texts, as rows to draw. Every changed line is in it; unchanged ones are there three deep around
 * a change, with a row that says how many were left out. Pure.
 */
import { diffLines, diffWordsWithSpace } from 'diff';

import { t } from './l10n.ts';

export type DiffRow =
  | {
      kind: 'same' | 'added' | 'removed';
      text: string;
      oldLine?: number;
      newLine?: number;
      /** What of a changed line is unlike the line that it replaces, or that replaces it. */
      words?: readonly Range[];
    }
  | { kind: 'gap'; lines: number }
  | { kind: 'note'; text: string };

/** Characters of a text, the end not included. */
export type Range = readonly [start: number, end: number];

export interface Diff {
  rows: DiffRow[];
  added: number;
  removed: number;
}

const CONTEXT = 3;
/** Past this much work the whole text is shown as replaced: longer to read, never wrong. */
const EDIT_LIMIT = 1500;
/** The same for the words of one line, and the longest line that is compared. */
const WORD_EDIT_LIMIT = 200;
const WORD_LINE_LIMIT = 2000;

export function unifiedDiff(oldText: string | undefined, newText: string): Diff {
  const [before, after, crlf] = comparable(oldText ?? '', newText);
  const changes = diffLines(before, after, { maxEditLength: EDIT_LIMIT }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  const all: Exclude<DiffRow, { kind: 'gap' | 'note' }>[] = [];
  let oldLine = 1;
  let newLine = 1;
  for (const change of changes) {
    for (const text of linesOf(change.value)) {
      if (change.added) all.push({ kind: 'added', text, newLine: newLine++ });
      else if (change.removed) all.push({ kind: 'removed', text, oldLine: oldLine++ });
      else all.push({ kind: 'same', text, oldLine: oldLine++, newLine: newLine++ });
    }
  }
  markWords(all);
  const rows = collapsed(all);
  if (before && after && before.endsWith('\n') !== after.endsWith('\n')) {
    rows.push({
      kind: 'note',
      text: after.endsWith('\n') ? t('newline at end of file added') : t('no newline at end of file'),
    });
  }
  if (crlf) rows.push({ kind: 'note', text: t('all lines end in CRLF') });
  return {
    rows,
    added: all.filter((row) => row.kind === 'added').length,
    removed: all.filter((row) => row.kind === 'removed').length,
  };
}

/** Compares the lines of each change in pairs, first with first, where both sides have as many. */
function markWords(all: Exclude<DiffRow, { kind: 'gap' | 'note' }>[]): void {
  for (let at = 0; at < all.length; at++) {
    const start = at;
    while (all[at]?.kind === 'removed') at++;
    const count = at - start;
    let added = 0;
    while (all[at + added]?.kind === 'added') added++;
    if (count === 0 || count !== added) continue;
    for (let pair = start; pair < start + count; pair++) {
      const [removed, added] = [all[pair]!, all[pair + count]!];
      const words = changedWords(removed.text, added.text);
      if (words) [removed.words, added.words] = words;
    }
  }
}

/** What two lines do not share; undefined where they share nothing that would help to compare them. */
export function changedWords(before: string, after: string): [Range[], Range[]] | undefined {
  if (before.length > WORD_LINE_LIMIT || after.length > WORD_LINE_LIMIT) return undefined;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: WORD_EDIT_LIMIT });
  if (!changes?.some(({ added, removed, value }) => !added && !removed && value.trim())) return undefined;
  const ranges: [Range[], Range[]] = [[], []];
  const ends = [0, 0];
  for (const { added, removed, value } of changes) {
    for (const [side, changed] of [removed, added].entries()) {
      if ([added, removed][side]) continue;
      const start = ends[side]!;
      ends[side] = start + value.length;
      if (changed) ranges[side]!.push([start, start + value.length]);
    }
  }
  return ranges;
}

/** Where every line of both ends in CRLF, that is said once and not at each line. */
function comparable(before: string, after: string): [string, string, boolean] {
  const allCrlf = (text: string): boolean => !/(^|[^\r])\n/.test(text) && !/\r(?!\n)/.test(text);
  const crlf = (before.includes('\r\n') || after.includes('\r\n')) && allCrlf(before) && allCrlf(after);
  return crlf ? [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n'), true] : [before, after, false];
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function collapsed(all: Exclude<DiffRow, { kind: 'gap' | 'note' }>[]): DiffRow[] {
  const near = new Set<number>();
  all.forEach((row, index) => {
    if (row.kind === 'same') return;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at++) near.add(at);
  });
  const rows: DiffRow[] = [];
  let skipped = 0;
  all.forEach((row, index) => {
    if (near.has(index)) {
      if (skipped > 0) rows.push({ kind: 'gap', lines: skipped });
      skipped = 0;
      rows.push(row);
    } else skipped++;
  });
  if (skipped > 0) rows.push({ kind: 'gap', lines: skipped });
  return rows;
}
