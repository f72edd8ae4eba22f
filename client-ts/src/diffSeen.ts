/**
 * Which changed lines of a diff were in view in the diff editor. Pure: diffEditor.ts reports what the editor shows.
 *
 * INVARIANT (nothing unseen): a line counts as seen only where the editor told that it lay wholly in view. The first
 * lines of a view do not count unless they begin the text, because the editor draws its sticky lines over them.
 */
import type { Change } from './changes.ts';

export type Side = 'before' | 'after';

/** Lines of one side that are wholly in view, from 0 and with both ends. */
export interface View {
  side: Side;
  ranges: readonly (readonly [first: number, last: number])[];
  lineCount: number;
  /** Rows at the top that the editor may draw others over; one is always in doubt. */
  stickyLines: number;
}

interface Position {
  line: number;
  character: number;
}

/**
 * The lines of ranges that lie in them from their first to their last character. A range of an editor begins and ends
 * with a row, and a wrapped line has several.
 */
export function wholeLines(
  ranges: readonly { start: Position; end: Position }[],
  lengthOf: (line: number) => number,
): (readonly [first: number, last: number])[] {
  return ranges.map(({ start, end }) => [
    start.character === 0 ? start.line : start.line + 1,
    end.character >= lengthOf(end.line) ? end.line : end.line - 1,
  ]);
}

export class DiffSeen {
  private readonly left: Record<Side, Set<number>> = { before: new Set(), after: new Set() };

  constructor(changes: readonly Change[]) {
    for (const { oldStart, removed, newStart, added } of changes) {
      removed.forEach((line, index) => line.trim() && this.left.before.add(oldStart + index));
      added.forEach((line, index) => line.trim() && this.left.after.add(newStart + index));
    }
  }

  /** How many changed lines were not in view yet. */
  get count(): number {
    return this.left.before.size + this.left.after.size;
  }

  get next(): { side: Side; line: number } | undefined {
    for (const side of ['after', 'before'] as const) {
      const line = Math.min(...this.left[side]);
      if (Number.isFinite(line)) return { side, line };
    }
    return undefined;
  }

  take({ side, ranges, lineCount, stickyLines }: View): void {
    const left = this.left[side];
    // Sticky lines cover rows of the view, whichever lines a fold leaves there.
    let covered = ranges[0]?.[0] === 0 ? 0 : Math.max(1, stickyLines);
    ranges.forEach(([from, to], index) => {
      const first = from + Math.min(covered, Math.max(0, to - from + 1));
      covered -= first - from;
      // The last line of a view may be cut off.
      const last = to >= lineCount - 1 || index < ranges.length - 1 ? to : to - 1;
      for (const line of left) if (line >= first && line <= last) left.delete(line);
    });
  }
}
