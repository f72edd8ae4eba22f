/**
 * A unified diff of two texts, as rows to draw. Every changed line is in it; unchanged ones are there three deep around
 * a change, with a row that says how many were left out. Pure.
 */
import { diffLines } from 'diff';

import { t } from './l10n.ts';

export type DiffRow =
  | { kind: 'same' | 'added' | 'removed'; text: string; oldLine?: number; newLine?: number }
  | { kind: 'gap'; lines: number }
  | { kind: 'note'; text: string };

export interface Diff {
  rows: DiffRow[];
  added: number;
  removed: number;
}

const CONTEXT = 3;
/** Past this much work the whole text is shown as replaced: longer to read, never wrong. */
const EDIT_LIMIT = 1500;

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
