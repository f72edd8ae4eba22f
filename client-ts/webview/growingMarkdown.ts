/**
 * Markdown that grows while a model writes it. Blocks that more text cannot change are drawn once, so that a word costs
 * the same at the end of a long message as at its beginning.
 */
import { html, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';

import { type Actions, blocks, markdown, type Part, parse } from './markdown.ts';

/** Blocks that are looked at together, to see whether they were drawn; off screen, the browser lays none of them out again. */
const CHUNK = 32;
/** The definition of a link, in a list or a quotation too: it may stand behind its uses. */
const DEFINITION = /^[ >*+\d.)-]*\[[^\n]*\]:/m;
/** Ends a line for Markdown, and is no end of a line for what counts them here. */
const LONE_RETURN = /\r(?!\n)/;

export class GrowingMarkdown {
  /** How much of the text is drawn for good. */
  private done = '';
  private readonly chunks: Part[][] = [];
  private latest: Part[] = [];
  private whole = false;

  /** Draws the text; one that does not go on from the text before is drawn anew, and one that defines links always is. */
  draw(text: string, act: Actions): TemplateResult | Part[] {
    if (!text.startsWith(this.done)) this.forget();
    const rest = text.slice(this.done.length);
    this.whole ||= DEFINITION.test(rest) || LONE_RETURN.test(rest);
    if (this.whole) return markdown(text, act);
    const tokens = parse(rest);
    // Of top-level blocks only the last one can go on.
    const last = tokens.findLastIndex(({ level, nesting, map }) => level === 0 && nesting >= 0 && map !== null);
    const line = tokens[last]?.map?.[0] ?? 0;
    if (line > 0) {
      this.done += rest.split('\n', line).join('\n') + '\n';
      this.latest.push(...blocks(tokens.slice(0, last), act, rest));
      if (this.latest.length >= CHUNK) {
        this.chunks.push(this.latest);
        this.latest = [];
      }
    }
    const open = blocks(line > 0 ? tokens.slice(last) : tokens, act, rest);
    return html`${this.chunks.map((chunk) => guard([chunk], () => html`<div class="chunk">${chunk}</div>`))}${this.latest}${open}`;
  }

  private forget(): void {
    this.done = '';
    this.chunks.length = 0;
    this.latest = [];
    this.whole = false;
  }
}
