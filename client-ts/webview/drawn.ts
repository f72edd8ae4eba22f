/**
 * The base of our elements. They draw into the document itself: one style sheet serves all, and labels can refer across
 * them, which they cannot from shadow root to shadow root.
 */
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { pieces, revealLine } from '../src/reveal.ts';
import type * as wire from '../src/wire.gen.ts';
import { fromServer, t } from './l10n.ts';

export class Drawn extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}

export function icon(name: string, extra = ''): TemplateResult {
  return html`<span class="codicon codicon-${name} ${extra}" aria-hidden="true"></span>`;
}

export function verdictIcon(verdict: wire.Verdict): TemplateResult {
  const [name, word] =
    verdict === 'allow'
      ? ['check', t('allowed')]
      : verdict === 'deny'
        ? ['circle-slash', t('denied')]
        : ['question', t('asks')];
  return html`<span class="verdict ${verdict}" title=${word}>${icon(name)}<span class="sr">${word}</span></span>`;
}

/** What the gate warns of: dangers in amber, the rest as notes. */
export function warnings({
  risks,
  notes = [],
}: Pick<wire.ApprovalRequest, 'risks' | 'notes'>): TemplateResult | typeof nothing {
  if (risks.length + notes.length === 0) return nothing;
  return html`<ul class="risks" aria-label=${risks.length > 0 ? t('Risks') : t('Notes')}>
    ${risks.map((risk) => html`<li class="danger">${icon('warning')}<span>${serverText(risk, revealed)}</span></li>`)}${notes.map((note) => html`<li class="note-line">${icon('info')}<span>${serverText(note, revealed)}</span></li>`)}
  </ul>`;
}

/** For each variable that a command did or will not get, a button that asks to pass it; nothing where none could be. */
export function withheldButtons(
  names: readonly string[] | undefined,
  trusted: boolean,
  pass: (name: string) => void,
): TemplateResult | typeof nothing {
  if (!names?.length || !trusted) return nothing;
  return html`<p class="facts" data-testid="withheld">
    ${names.map((name) => html`<button type="button" class="link" @click=${() => pass(name)}>${icon('key')} ${t('Pass {0} in this workspace…', name)}</button> `)}
  </p>`;
}

/**
 * A text that the server wrote, in the language of the window. The title of a translation is what the server said: that
 * is what the ledger holds, and what can be searched for.
 */
export function serverText(text: string, draw: (text: string) => unknown = sentence): unknown {
  const translated = fromServer(text);
  return translated === text
    ? draw(text)
    : html`<span data-testid="translated" title=${revealLine(text)}>${draw(translated)}</span>`;
}

/** A reason in words, from the first to the last a sentence. */
export function fullSentence(text: string, limit?: number): (string | TemplateResult)[] {
  return sentence(`${text.charAt(0).toUpperCase()}${text.slice(1)}`, limit);
}

/** A sentence of ours or of the server, with what stands in backticks drawn as code. */
export function sentence(text: string, limit = Number.POSITIVE_INFINITY): (string | TemplateResult)[] {
  if (text.length > limit) return [...sentence(text.slice(0, limit)), '…'];
  return text
    .split(/(`[^`]+`)/)
    .flatMap((part) =>
      part.length > 2 && part.startsWith('`') ? [html`<code>${revealed(part.slice(1, -1))}</code>`] : revealed(part),
    );
}

/** Text with what cannot be seen in it drawn as marked escapes. */
export function revealed(text: string): (string | TemplateResult)[] {
  return pieces(text).map((piece) =>
    piece.escaped ? html`<span class="escape" title=${t('hidden character')}>${piece.text}</span>` : piece.text,
  );
}

/** One line of foreign text that decides nothing: its beginning, and how much was left out. */
export function clipped(text: string, limit: number): (string | TemplateResult)[] {
  const shown = text.slice(0, limit).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return [
    ...revealed(shown),
    ...(text.length > limit
      ? [html`<span class="escape">${t('… and {0} more characters', text.length - limit)}</span>`]
      : []),
  ];
}
