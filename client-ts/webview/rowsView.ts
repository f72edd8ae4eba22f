/**
 * Rows in a box that scrolls. Draws them in chunks as they are scrolled to, so that a text of any length costs little;
 * for a request it follows what was in view, says how much was not, and leads to it.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';

import { revealLine } from '../src/reveal.ts';
import type { Range } from './diff.ts';
import { Drawn, icon, revealed, serverText, verdictIcon } from './drawn.ts';
import { withPlaces } from './fileLinks.ts';
import type { PlacedToken } from './highlight.ts';
import { fromServer, t } from './l10n.ts';
import { cutRanges, cutTokens, type Row } from './rows.ts';
import type { Seen } from './seen.ts';

/** Segments drawn at once. */
const CHUNK = 200;
/** Marks in the strip; there may be hundreds of parts with a risk. */
const MARKS = 4;
/** Read out at one step. */
const SAID = 2000;

export class RowsView extends Drawn {
  static override properties = {
    label: {},
    rows: { attribute: false },
    seen: { attribute: false },
    look: {},
    open: { attribute: false },
    block: { attribute: false },
    drawn: { state: true },
    said: { state: true },
  };
  declare label: string;
  declare rows: readonly Row[];
  /** What was in view of it; undefined for text that nobody has to see. */
  declare seen: Seen | undefined;
  declare look: string;
  /** Follows places in files, in text that nobody has to see. */
  declare open: ((path: string, line?: number) => void) | undefined;
  /** Draws a block of Markdown. */
  declare block: ((text: string) => unknown) | undefined;
  /** How many chunks are drawn. */
  declare private drawn: number;
  declare private said: string;

  private chunks: (readonly Row[])[] = [];
  private firsts: number[] = [];
  private frame: number | undefined;
  private sizes: ResizeObserver | undefined;

  constructor() {
    super();
    this.label = '';
    this.rows = [];
    this.look = '';
    this.drawn = 1;
    this.said = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // Scrolling does not bubble, and a box around this one may be the one that scrolls.
    document.addEventListener('scroll', this.schedule, { capture: true, passive: true });
    document.addEventListener('visibilitychange', this.schedule);
    window.addEventListener('resize', this.schedule);
    if ('ResizeObserver' in window) this.sizes = new ResizeObserver(this.schedule);
    this.schedule();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('scroll', this.schedule, { capture: true });
    document.removeEventListener('visibilitychange', this.schedule);
    window.removeEventListener('resize', this.schedule);
    this.sizes?.disconnect();
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('rows')) return;
    this.drawn = 1;
    this.said = '';
    [this.chunks, this.firsts] = chunked(this.rows);
  }

  protected override firstUpdated(): void {
    this.sizes?.observe(this.box);
  }

  protected override updated(): void {
    this.follow();
  }

  private get box(): HTMLElement {
    return this.querySelector<HTMLElement>('.rows')!;
  }

  private readonly schedule = (): void => {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      if (this.isConnected && this.hasUpdated) this.follow();
    });
  };

  /** Measures, draws more where the end comes near, and tells the card what changed. */
  private follow(): readonly number[] {
    const { box, seen } = this;
    const found = seen?.measure(box) ?? [];
    const last = box.querySelector('.rows-end')?.getBoundingClientRect();
    if (this.drawn < this.chunks.length && last && last.top < box.getBoundingClientRect().bottom + window.innerHeight)
      this.drawn++;
    if (found.length > 0) {
      this.requestUpdate();
      this.dispatchEvent(new CustomEvent('seen', { bubbles: true }));
    }
    return found;
  }

  /** Brings what was not in view yet into it, and reads it out; for the button and the key. */
  async step(row?: number): Promise<void> {
    const { seen, box } = this;
    if (!seen) return;
    const unit = row === undefined ? seen.next : seen.firstOf[row]!;
    if (unit === undefined) return;
    const chunk = this.firsts.findLastIndex((first) => first <= seen.rowOf[unit]!);
    if (chunk >= this.drawn) {
      this.drawn = chunk + 1;
      await this.updateComplete;
    }
    const element = box.querySelector<HTMLElement>(`[data-unit="${unit}"]`);
    if (!element) return;
    box.scrollIntoView({ block: 'nearest' });
    const rect = element.getBoundingClientRect();
    box.scrollTop +=
      rect.top + rect.height * (row === undefined ? seen.firstGap(unit) : 0) - box.getBoundingClientRect().top - 2;
    const found = this.follow();
    const text = [...new Set(found.map((each) => seen.rowOf[each]!))]
      .map((each) => this.rows[each]!.segments.join(''))
      .join('\n');
    this.said = text.length > SAID ? t('{0} … and {1} more characters', text.slice(0, SAID), text.length - SAID) : text;
  }

  /** As long as something was not in view, Page Down leads to it and reads it out. */
  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'PageDown' || !this.seen || this.seen.complete) return;
    event.preventDefault();
    event.stopPropagation();
    void this.step();
  };

  protected override render(): TemplateResult {
    const { rows } = this;
    return html`<div class="rows code ${this.look}" tabindex="0" role="region" aria-label=${this.label} @keydown=${this.onKey}>
        ${this.chunks.slice(0, this.drawn).map((chunk, index) => guard([rows, chunk], () => this.chunk(chunk, this.firsts[index]!)))}
        <div class="rows-end"></div>
      </div>
      ${this.strip()}`;
  }

  private chunk(chunk: readonly Row[], first: number): TemplateResult[] {
    let unit = this.seen?.firstOf[first] ?? 0;
    return chunk.map((row) => {
      if (row.kind === 'block')
        return html`<div class="row kind-block"><div class="markdown" data-unit=${unit++}>${this.block?.(row.segments.join('')) ?? nothing}</div></div>`;
      let start = 0;
      const segments = row.segments.map((segment) => {
        const words = cutRanges(row.words ?? [], start, start + segment.length);
        const tokens = cutTokens(row.tokens ?? [], start, start + segment.length);
        start += segment.length;
        return html`<span data-unit=${unit++}>${words.length + tokens.length > 0 ? marked(segment, words, tokens) : this.shown(segment)}</span>`;
      });
      return html`<div class="row kind-${row.kind} ${row.continued ? 'continued' : ''} ${row.risks ? 'dangerous' : ''}">${lead(row)}<span class="line-text" title=${row.original === undefined ? nothing : revealLine(row.original)}>${segments}${'\n'}</span>${row.warns === undefined || row.continued ? nothing : html`<span class="warns">${icon('warning')} ${serverTexts(row.warns)}</span>`}${row.why === undefined ? nothing : html`<code class="why">${revealed(row.why)}</code>`}</div>`;
    });
  }

  private shown(segment: string): unknown {
    const { open } = this;
    if (!open || this.seen) return revealed(segment);
    return withPlaces(segment).map(({ text, place }) => {
      const follow = (event: Event): void => {
        event.preventDefault();
        if (place) open(place.path, place.line);
      };
      return place ? html`<a href="#" @click=${follow}>${revealed(text)}</a>` : revealed(text);
    });
  }

  /** How much was not in view, and the rows with risks. */
  private strip(): TemplateResult | typeof nothing {
    const { seen, rows } = this;
    if (!seen) return nothing;
    const risky = rows.flatMap((row, index) => (row.risks ? [index] : []));
    const left = seen.rowsLeft;
    const overflows =
      left > 0 || this.drawn > 1 || (this.hasUpdated && this.box.scrollHeight > this.box.clientHeight + 2);
    if (!overflows) return html`<div class="sr" role="status" aria-live="polite">${this.said}</div>`;
    const marked = [...risky.filter((row) => !seen.isSeen(row)), ...risky.filter((row) => seen.isSeen(row))];
    return html`<div class="strip" data-testid="unseen" data-rows=${left}>
      ${
        left > 0
          ? html`<span class="strip-text">${icon('eye-closed')} ${left === 1 ? t('1 line was not in view yet') : t('{0} lines were not in view yet', left)}</span>
            <button type="button" class="link" title="${t('Show the next lines')} (Page Down)" @click=${() => this.step()}>${t('Show the next lines')}</button>`
          : html`<span class="strip-text">${icon('eye')} ${t('All of it was in view')}</span>`
      }
      ${marked.slice(0, MARKS).map((row) => html`<button type="button" class="mark ${seen.isSeen(row) ? 'seen' : ''}" @click=${() => this.step(row)}>${icon(seen.isSeen(row) ? 'check' : 'warning')} ${t('line {0}: {1}', row + 1, rows[row]!.risks!.map(fromServer).join(', '))}</button>`)}
      ${marked.length > MARKS ? html`<span class="strip-text">${t('and {0} more lines with risks', marked.length - MARKS)}</span>` : nothing}
      <div class="sr" role="status" aria-live="polite">${this.said}</div>
    </div>`;
  }
}

/** A text with some of its characters marked and some in color; no character is left out or moved. */
function marked(text: string, words: readonly Range[], tokens: readonly PlacedToken[]): unknown[] {
  const found: unknown[] = [];
  let end = 0;
  for (const [from, to] of [...words, [text.length, text.length] as const]) {
    if (from > end) found.push(colored(text, end, from, tokens));
    if (to > from) found.push(html`<mark class="word">${colored(text, from, to, tokens)}</mark>`);
    end = to;
  }
  return found;
}

/** What stands between two places of a text, in its colors. */
function colored(text: string, start: number, end: number, tokens: readonly PlacedToken[]): unknown[] {
  const part = text.slice(start, end);
  const found: unknown[] = [];
  let done = 0;
  for (const token of cutTokens(tokens, start, end)) {
    found.push(...revealed(part.slice(done, token.start)));
    found.push(html`<span class="token-${token.kind}">${revealed(part.slice(token.start, token.end))}</span>`);
    done = token.end;
  }
  return [...found, ...revealed(part.slice(done))];
}

/** Texts of the server one behind the other, each with what it said as its title. */
function serverTexts(texts: readonly string[]): unknown[] {
  return texts.map((text, index) => [index === 0 ? '' : ', ', serverText(text, revealed)]);
}

function lead(row: Row): TemplateResult | typeof nothing {
  switch (row.kind) {
    case 'added':
    case 'removed':
    case 'same':
      return html`<span class="line-number" aria-hidden="true">${row.continued ? '↳' : row.lead}</span><span class="sign">${row.kind === 'added' ? '+' : row.kind === 'removed' ? '−' : ' '}</span>`;
    case 'part':
      return row.verdict ? verdictIcon(row.verdict) : nothing;
    case 'fact':
      return row.lead === undefined ? nothing : html`<span class="lead">${row.lead}</span>`;
    case 'field':
      return html`<span class="lead">${row.continued ? '↳' : revealed(row.lead ?? '')}</span>`;
    default:
      return row.continued ? html`<span class="lead" aria-hidden="true">↳</span>` : nothing;
  }
}

/** The rows in chunks of about so many segments, and the first row of each. */
function chunked(rows: readonly Row[]): [(readonly Row[])[], number[]] {
  const chunks: (readonly Row[])[] = [];
  const firsts: number[] = [];
  let start = 0;
  let count = 0;
  rows.forEach((row, index) => {
    count += row.segments.length;
    if (count < CHUNK && index < rows.length - 1) return;
    chunks.push(rows.slice(start, index + 1));
    firsts.push(start);
    start = index + 1;
    count = 0;
  });
  return [chunks, firsts];
}

customElements.define('cs-rows', RowsView);
