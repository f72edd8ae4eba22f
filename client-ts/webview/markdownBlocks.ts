/**
 * The blocks of a Markdown text, one after the other, as they stand in its source. Text only; pure. markdown.ts draws
 * them.
 */
import MarkdownIt, { type Token } from 'markdown-it';

import { isLanguage } from './highlight.ts';

export interface SourceBlock {
  text: string;
  /** Drawing it shows all that it says. What a drawing would leave out, such as a link's definition, is not drawn. */
  drawn: boolean;
}

export const parserOptions = { html: false, linkify: true, breaks: false } as const;

const parser = new MarkdownIt(parserOptions).disable(['image']);
// Every link is found here, so that none that is drawn as one passes for text.
parser.validateLink = () => true;

/** What is deeper or wider does not fit into a narrow view. */
const MOST_LEVELS = 10;
const MOST_COLUMNS = 5;

/** White space, and the signs of which Markdown is made: what they do is seen, they themselves may not be. */
const SIGNS = /[\s\\`*_~#>|\-+=:.)]/g;

/** Every line of the text that is not blank is in one of them. Each item of a list is a block. */
export function sourceBlocks(markdown: string): SourceBlock[] {
  const lines = markdown.split('\n');
  const found: SourceBlock[] = [];
  let next = 0;
  const take = (end: number, drawn: boolean): void => {
    const text = lines.slice(next, end).join('\n');
    if (text.trim()) found.push({ text, drawn: drawn && showsAll(text) });
    next = Math.max(next, end);
  };
  for (const token of parser.parse(markdown, {})) {
    const map = starts(token) ? token.map : null;
    if (!map || map[0] < next) continue;
    take(map[0], false);
    take(map[1], true);
  }
  take(lines.length, false);
  return found;
}

/** A block of the text itself, or an item of a list of it. */
function starts({ level, nesting, type }: Token): boolean {
  if (type === 'list_item_open') return level === 1;
  return level === 0 && nesting >= 0 && type !== 'bullet_list_open' && type !== 'ordered_list_open';
}

function showsAll(text: string): boolean {
  const env: Parameters<typeof parser.parse>[1] = {};
  const tokens = parser.parse(text, env);
  const links = tokens.some(({ children }) => children?.some(({ attrs, markup }) => attrs && markup !== 'linkify'));
  const fits = tokens.every(({ level }) => level <= MOST_LEVELS) && count(tokens, 'th_open') <= MOST_COLUMNS;
  const same = drawnText(tokens).replace(SIGNS, '') === text.replace(SIGNS, '');
  return fits && same && Object.keys(env?.references ?? {}).length === 0 && !links;
}

/** All the text that drawing these tokens shows, in order, with the numbers of lists and the known languages of code. */
function drawnText(tokens: readonly Token[]): string {
  let text = '';
  const numbers: number[] = [];
  for (const token of tokens) {
    if (token.type === 'ordered_list_open') numbers.push(Number(token.attrGet('start') ?? 1));
    else if (token.type === 'bullet_list_open') numbers.push(NaN);
    else if (token.type === 'ordered_list_close' || token.type === 'bullet_list_close') numbers.pop();
    else if (token.type === 'list_item_open') {
      const number = numbers.pop() ?? NaN;
      if (!Number.isNaN(number)) text += String(number);
      numbers.push(number + 1);
    } else if (token.type === 'inline') text += (token.children ?? []).map(({ content }) => content).join('');
    else text += (isLanguage(token.info.trim()) ? token.info : '') + token.content;
  }
  return text;
}

function count(tokens: readonly Token[], type: string): number {
  return tokens.filter((token) => token.type === type).length;
}
