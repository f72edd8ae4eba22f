/**
 * The base of our elements. They draw into the document itself: one style sheet serves all, and labels can refer across
 * them, which they cannot from shadow root to shadow root.
 */
import { html, LitElement, type TemplateResult } from 'lit';

import { pieces } from '../src/reveal.ts';

export class Drawn extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}

export function icon(name: string, extra = ''): TemplateResult {
  return html`<span class="codicon codicon-${name} ${extra}" aria-hidden="true"></span>`;
}

/** A sentence of ours or of the server, with what stands in backticks drawn as code. */
export function sentence(text: string): (string | TemplateResult)[] {
  return text.split(/(`[^`]+`)/).flatMap((part) => (part.length > 2 && part.startsWith('`') ? [html`<code>${revealed(part.slice(1, -1))}</code>`] : revealed(part)));
}

/** Text with what cannot be seen in it drawn as marked escapes. */
export function revealed(text: string): (string | TemplateResult)[] {
  return pieces(text).map((piece) => (piece.escaped ? html`<span class="escape" title="hidden character">${piece.text}</span>` : piece.text));
}
