/**
 * Which changed lines of a diff were in view in the diff editor. Pure; what the editor shows is told by diffEditor.ts.
 *
 * INVARIANT (nothing unseen): a line counts as seen only where the editor told that it lay wholly in view. The first
 * lines of a view do not count unless they begin the text, because the editor draws its sticky lines over them.
 */
import type { Change } from './changes.ts';

export type Side = 'before' | 'after';

/** Lines of one side in view, from 0 and with both ends, as the editor tells them. */
export interface View {
  side: Side;
  ranges: readonly (readonly [first: number, last: number])[];
  lineCount: number;
  /** Lines at the top that the editor may draw others over, so that one is always in doubt. */
  stickyLines: number;
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
    ranges.forEach(([from, to], index) => {
      const first = from === 0 || index > 0 ? from : from + Math.max(1, stickyLines);
      // The last line of a view may be cut off.
      const last = to >= lineCount - 1 || index < ranges.length - 1 ? to : to - 1;
      for (const line of left) if (line >= first && line <= last) left.delete(line);
    });
  }
}
