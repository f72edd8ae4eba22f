/**
 * Markdown of models as templates. Tokens are turned into elements one by one and text is inserted as text; no string of
 * theirs is ever read as HTML. Links are http(s) or files, and opening one is asked of the editor; pictures are links.
 */
import { html, nothing, type TemplateResult } from 'lit';
import MarkdownIt, { type Token } from 'markdown-it';

import { reveal, revealProse } from '../src/reveal.ts';
import { icon } from './drawn.ts';
import { asPlace, type Place, withPlaces } from './fileLinks.ts';
import { highlight } from './highlight.ts';
import { t } from './l10n.ts';
import { parserOptions } from './markdownBlocks.ts';
import { textRows } from './rows.ts';
import './rowsView.ts';

export type OpenTarget = { href: string } | { path: string; line?: number };
export type Part = TemplateResult | string | typeof nothing;

const parser = new MarkdownIt(parserOptions).disable(['image']);
// Ours, below, decides what may be followed; a rejected link would otherwise stand there as raw text.
parser.validateLink = (href) => asTarget(href) !== undefined;

/** What can be done with a message's links and code. */
export interface Actions {
  open(target: OpenTarget): void;
  copy(text: string): void;
  insert(text: string): void;
}

export function markdown(text: string, act: Actions): Part[] {
  return blocks(parse(text), act, text);
}

export function parse(text: string): Token[] {
  return parser.parse(text, {});
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
  // Two slashes or backslashes in front name another machine, which Windows logs in to when it looks there.
  if (/^[\\/]{2}/.test(path)) return undefined;
  const place = /^(.*?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?::\d+)?)$/.exec(path);
  const line = place?.[2] ?? place?.[3];
  return line === undefined ? { path } : { path: place![1]!, line: Number(line) };
}

/** Each opening token is matched with its closing one; what lies between is its content. `text` is what was parsed. */
export function blocks(tokens: readonly Token[], act: Actions, text: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.nesting === 1) {
      const end = closing(tokens, at);
      const task = takeTask(tokens, at);
      const large = token.type === 'table_open' && end - at > TABLE_TOKENS && token.map;
      parts.push(
        large
          ? source(
              text
                .split(/\r\n?|\n/)
                .slice(...large)
                .join('\n'),
            )
          : container(token, blocks(tokens.slice(at + 1, end), act, text), task),
      );
      at = end;
    } else parts.push(leaf(token, act));
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

function container(token: Token, inner: Part[], task: Part): Part {
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
      return task === nothing ? html`<li>${inner}</li>` : html`<li class="task-item">${task}${inner}</li>`;
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

function leaf(token: Token, act: Actions): Part {
  switch (token.type) {
    case 'inline':
      return html`${inline(token.children ?? [], act)}`;
    case 'fence':
    case 'code_block':
      return codeBlock(token.content.replace(/\n$/, ''), token.info.trim().split(/\s/, 1)[0] ?? '', act);
    case 'hr':
      return html`<hr>`;
    default:
      return revealProse(token.content);
  }
}

function inline(tokens: readonly Token[], act: Actions): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.nesting === 1) {
      const end = closing(tokens, at);
      parts.push(span(token, inline(tokens.slice(at + 1, end), act), act));
      at = end;
    } else parts.push(word(token, act));
  }
  return parts;
}

function span(token: Token, inner: Part[], act: Actions): Part {
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
        act.open(target);
      };
      // Where it leads stands in the title, whatever its text claims.
      return html`<a href="#" title=${reveal(href)} @click=${follow}>${inner}</a>`;
    }
    default:
      return html`${inner}`;
  }
}

function word(token: Token, act: Actions): Part {
  switch (token.type) {
    case 'code_inline':
      return placed(html`<code>${reveal(token.content)}</code>`, asPlace(token.content), act);
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return html`<br>`;
    default:
      return html`${withPlaces(token.content).map(({ text, place }) => placed(revealProse(text), place, act))}`;
  }
}

/** Code with its language, to be copied or put where the cursor is; hidden characters stand there as escapes. */
function codeBlock(code: string, language: string, act: Actions): Part {
  return html`<div class="code-block">
    <pre class="code" tabindex="0"><code>${highlight(code, language).map(({ kind, text }) => (kind === 'plain' ? reveal(text) : html`<span class="token-${kind}">${reveal(text)}</span>`))}</code></pre>
    <div class="code-tools">
      <button type="button" class="tool" aria-label=${t('Copy the code')} title=${t('Copy')} @click=${() => act.copy(code)}>${icon('copy')}</button>
      <button type="button" class="tool" aria-label=${t('Insert the code at the cursor')} title=${t('Insert at the cursor')} @click=${() => act.insert(code)}>${icon('insert')}</button>
    </div>
  </div>`;
}

/** As a link, where it names a place in a file. */
function placed(shown: Part, place: Place | undefined, act: Actions): Part {
  if (!place) return shown;
  const follow = (event: Event): void => {
    event.preventDefault();
    act.open(place);
  };
  return html`<a href="#" @click=${follow}>${shown}</a>`;
}

/** `- [x] done`: the box as an icon, and what it says for those who listen. */
function takeTask(tokens: readonly Token[], at: number): Part {
  const first = tokens[at + 2]?.children?.[0];
  const box =
    tokens[at]?.type === 'list_item_open' && first?.type === 'text' ? /^\[([ xX])\] /.exec(first.content) : null;
  if (!first || !box) return nothing;
  first.content = first.content.slice(box[0].length);
  const done = box[1] !== ' ';
  return html`<span class="task">${icon(done ? 'pass-filled' : 'circle-large')}<span class="sr">${done ? t('done:') : t('to do:')} </span></span>`;
}
