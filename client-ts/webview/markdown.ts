/**
 * Markdown of models as templates. Tokens are turned into elements one by one and text is inserted as text; no string of
 * theirs is ever read as HTML. Links are http(s) or files, and opening one is asked of the editor; pictures are links.
 */
import { html, nothing, type TemplateResult } from 'lit';
import MarkdownIt, { type Token } from 'markdown-it';

import { reveal, revealProse } from '../src/reveal.ts';
import { t } from './l10n.ts';
import { textRows } from './rows.ts';
import './rowsView.ts';

export type OpenTarget = { href: string } | { path: string; line?: number };
type Part = TemplateResult | string | typeof nothing;

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false }).disable(['image']);
// Ours, below, decides what may be followed; a rejected link would otherwise stand there as raw text.
parser.validateLink = (href) => asTarget(href) !== undefined;

export function markdown(text: string, open: (target: OpenTarget) => void): Part[] {
  return blocks(parser.parse(text, {}), open, text);
}

/** A table of more tokens stands there as its source, which is drawn piece by piece; a cell has three. */
const TABLE_TOKENS = 3000;

/** Where a link leads, if it is of a kind that may be followed. */
export function asTarget(href: string): OpenTarget | undefined {
  if (/^https?:\/\/[^\s]+$/i.test(href)) return { href };
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) && !/^[a-z]:[\\/]/i.test(href) && !href.startsWith('file:///'))
    return /^[\w./-]+\.\w+:\d+$/.test(href) ? fileTarget(href) : undefined;
  if (href.startsWith('//') || href.startsWith('#') || href.trim() === '') return undefined;
  return fileTarget(href);
}

function fileTarget(href: string): OpenTarget | undefined {
  let path: string;
  try {
    path = decodeURIComponent(href.replace(/^file:\/\//, ''));
  } catch {
    return undefined; // a broken escape
  }
  const place = /^(.*?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?::\d+)?)$/.exec(path);
  const line = place?.[2] ?? place?.[3];
  return line === undefined ? { path } : { path: place![1]!, line: Number(line) };
}

/** Each opening token is matched with its closing one; what lies between is its content. */
function blocks(tokens: readonly Token[], open: (target: OpenTarget) => void, text: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.nesting === 1) {
      const end = closing(tokens, at);
      const large = token.type === 'table_open' && end - at > TABLE_TOKENS && token.map;
      parts.push(
        large
          ? source(
              text
                .split('\n')
                .slice(...large)
                .join('\n'),
            )
          : container(token, blocks(tokens.slice(at + 1, end), open, text)),
      );
      at = end;
    } else parts.push(leaf(token, open));
  }
  return parts;
}

function source(text: string): Part {
  return html`<cs-rows .label=${t('Table')} .rows=${textRows(text)}></cs-rows>`;
}

function closing(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    depth += tokens[at]!.nesting;
    if (depth === 0) return at;
  }
  return tokens.length;
}

function container(token: Token, inner: Part[]): Part {
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? html`${inner}` : html`<p>${inner}</p>`;
    case 'heading_open':
      // One look for all: a chat is no document, and the page's own headings keep their order.
      return html`<p class="heading" data-level=${token.tag.slice(1)}>${inner}</p>`;
    case 'bullet_list_open':
      return html`<ul>${inner}</ul>`;
    case 'ordered_list_open':
      return html`<ol start=${token.attrGet('start') ?? '1'}>${inner}</ol>`;
    case 'list_item_open':
      return html`<li>${inner}</li>`;
    case 'blockquote_open':
      return html`<blockquote>${inner}</blockquote>`;
    case 'table_open':
      return html`<div class="table" tabindex="0" role="region" aria-label=${t('Table')}><table>${inner}</table></div>`;
    case 'thead_open':
      return html`<thead>${inner}</thead>`;
    case 'tbody_open':
      return html`<tbody>${inner}</tbody>`;
    case 'tr_open':
      return html`<tr>${inner}</tr>`;
    case 'th_open':
      return html`<th>${inner}</th>`;
    case 'td_open':
      return html`<td>${inner}</td>`;
    default:
      return html`${inner}`;
  }
}

function leaf(token: Token, open: (target: OpenTarget) => void): Part {
  switch (token.type) {
    case 'inline':
      return html`${inline(token.children ?? [], open)}`;
    case 'fence':
    case 'code_block':
      return html`<pre class="code" tabindex="0"><code>${reveal(token.content.replace(/\n$/, ''))}</code></pre>`;
    case 'hr':
      return html`<hr>`;
    default:
      return revealProse(token.content);
  }
}

function inline(tokens: readonly Token[], open: (target: OpenTarget) => void): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.nesting === 1) {
      const end = closing(tokens, at);
      parts.push(span(token, inline(tokens.slice(at + 1, end), open), open));
      at = end;
    } else parts.push(word(token));
  }
  return parts;
}

function span(token: Token, inner: Part[], open: (target: OpenTarget) => void): Part {
  switch (token.type) {
    case 'strong_open':
      return html`<strong>${inner}</strong>`;
    case 'em_open':
      return html`<em>${inner}</em>`;
    case 's_open':
      return html`<s>${inner}</s>`;
    case 'link_open': {
      const href = String(token.attrGet('href') ?? '');
      const target = asTarget(href);
      if (!target) return html`${inner}`;
      const follow = (event: Event): void => {
        event.preventDefault();
        open(target);
      };
      // Where it leads stands in the title, whatever its text claims.
      return html`<a href="#" title=${reveal(href)} @click=${follow}>${inner}</a>`;
    }
    default:
      return html`${inner}`;
  }
}

function word(token: Token): Part {
  switch (token.type) {
    case 'code_inline':
      return html`<code>${reveal(token.content)}</code>`;
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return html`<br>`;
    default:
      return revealProse(token.content);
  }
}
