/**
 * What of a card's subject was in view. Keeps, for each segment that has to be seen, which of its bands lay wholly inside
 * every box that clips it; pixels count, not lines.
 *
 * INVARIANT (nothing unseen): a segment counts as seen only by a measurement of where it was drawn. What was not drawn,
 * or has no size, was not seen.
 */
import { isTooLarge } from '../src/subject.ts';
import type * as wire from '../src/wire.gen.ts';
import { type Place, type Row, subjectRows } from './rows.ts';

/** Bands of a segment: it may be taller than the box, and is then seen piece by piece; each lower than a line. */
const BANDS = 24;
const WHOLE = (1 << BANDS) - 1;
/** Fractions of a pixel, as zoom brings them. */
const TOLERANCE = 1.5;

export class Seen {
  private readonly bands = new Map<number, number>();
  private readonly unseen: Set<number>;
  /** The row of each segment, and the first segment of each row. */
  readonly rowOf: readonly number[];
  readonly firstOf: readonly number[];

  constructor(readonly rows: readonly Row[]) {
    const rowOf: number[] = [];
    const firstOf: number[] = [];
    this.unseen = new Set();
    rows.forEach((row, index) => {
      firstOf.push(rowOf.length);
      for (const segment of row.segments) {
        // Blanks show nothing, and nothing is missed with them.
        if (row.must && /[^ \t]/.test(segment)) this.unseen.add(rowOf.length);
        rowOf.push(index);
      }
    });
    this.rowOf = rowOf;
    this.firstOf = firstOf;
  }

  get complete(): boolean {
    return this.unseen.size === 0;
  }

  /** How many rows hold something that was not in view yet. */
  get rowsLeft(): number {
    const rows = new Set<number>();
    for (const unit of this.unseen) rows.add(this.rowOf[unit]!);
    return rows.size;
  }

  /** The first segment that was not in view yet. */
  get next(): number | undefined {
    const [first] = this.unseen;
    return first;
  }

  isSeen(row: number): boolean {
    const first = this.firstOf[row]!;
    return !this.rows[row]!.segments.some((_, index) => this.unseen.has(first + index));
  }

  /** Takes down what of the drawn segments lies in view now; gives those seen for the first time. */
  measure(box: HTMLElement): number[] {
    if (this.complete || document.visibilityState !== 'visible') return [];
    const clip = visibleRect(box);
    const found: number[] = [];
    if (clip.bottom <= clip.top || clip.right <= clip.left) return found;
    for (const element of box.querySelectorAll<HTMLElement>('[data-unit]')) {
      const unit = Number(element.dataset['unit']);
      if (!this.unseen.has(unit)) continue;
      const rect = element.getBoundingClientRect();
      if (rect.top > clip.bottom) break;
      if (rect.bottom < clip.top || rect.height <= 0 || rect.width <= 0) continue;
      if (rect.left < clip.left - TOLERANCE || rect.right > clip.right + TOLERANCE) continue;
      let mask = this.bands.get(unit) ?? 0;
      for (let band = 0; band < BANDS; band++) {
        const top = rect.top + (rect.height * band) / BANDS;
        const bottom = rect.top + (rect.height * (band + 1)) / BANDS;
        if (top >= clip.top - TOLERANCE && bottom <= clip.bottom + TOLERANCE) mask |= 1 << band;
      }
      if (mask === WHOLE) {
        this.unseen.delete(unit);
        this.bands.delete(unit);
        found.push(unit);
      } else this.bands.set(unit, mask);
    }
    return found;
  }

  /** Where in a segment the first band lies that was not in view, as a part of its height. */
  firstGap(unit: number): number {
    const mask = this.bands.get(unit) ?? 0;
    for (let band = 0; band < BANDS; band++) if ((mask & (1 << band)) === 0) return band / BANDS;
    return 0;
  }
}

/** The part of a box that nothing around it clips. */
export function visibleRect(box: HTMLElement): { top: number; bottom: number; left: number; right: number } {
  const { top, bottom, left, right } = box.getBoundingClientRect();
  const clip = {
    top: Math.max(top, 0),
    bottom: Math.min(bottom, window.innerHeight),
    left: Math.max(left, 0),
    right: Math.min(right, window.innerWidth),
  };
  for (let around = box.parentElement; around && around !== document.body; around = around.parentElement) {
    if (getComputedStyle(around).overflow === 'visible') continue;
    const rect = around.getBoundingClientRect();
    clip.top = Math.max(clip.top, rect.top);
    clip.bottom = Math.min(clip.bottom, rect.bottom);
    clip.left = Math.max(clip.left, rect.left);
    clip.right = Math.min(clip.right, rect.right);
  }
  return clip;
}

interface Views {
  table: Seen;
  raw?: Seen;
}

/** By preview, which is the server's object: another subject is another one, and a card drawn again keeps its own. */
const views = new WeakMap<object, Views>();

/** What was seen of a request, wherever it was drawn. */
export function seenOf(approval: wire.ApprovalRequest, place: Place, raw = false): Seen {
  let known = views.get(approval.preview);
  if (!known) views.set(approval.preview, (known = { table: new Seen(subjectRows(approval, place)) }));
  return raw ? (known.raw ??= new Seen(subjectRows(approval, place, true))) : known.table;
}

/** Whether all that has to be seen of it was in view, in one way of drawing it. */
export function wasSeen(approval: wire.ApprovalRequest, place: Place): boolean {
  // INVARIANT (nothing unseen)
  if (isTooLarge(approval)) return false;
  return seenOf(approval, place).complete || (views.get(approval.preview)?.raw?.complete ?? false);
}
