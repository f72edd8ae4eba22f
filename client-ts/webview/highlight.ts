/**
 * Colors for code in messages and in the diffs of cards: comments, strings, numbers and keywords, told apart by one expression for each family of
 * languages. It explains nothing and decides nothing; a language that is not listed is drawn plain. Pure.
 */

export type TokenKind = 'comment' | 'string' | 'number' | 'keyword' | 'plain';

export interface Token {
  kind: TokenKind;
  text: string;
}

/** A token by its place in a line, the end not included. */
export interface PlacedToken {
  kind: Exclude<TokenKind, 'plain' | 'comment'>;
  start: number;
  end: number;
}

/** Longer code is drawn plain. */
const LIMIT = 20_000;

const C_WORDS =
  'abstract|as|async|await|break|case|catch|class|const|continue|default|defer|delete|do|else|enum|export|extends|false|final|finally|fn|for|from|func|function|go|if|impl|implements|import|in|interface|let|match|mod|mut|namespace|new|nil|null|package|private|protected|pub|public|return|self|static|struct|super|switch|this|throw|trait|true|try|type|typeof|undefined|use|using|var|void|where|while|yield';
const PYTHON_WORDS =
  'and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|match|None|nonlocal|not|or|pass|raise|return|self|True|try|while|with|yield';
const SHELL_WORDS = 'case|do|done|elif|else|esac|exit|export|fi|for|function|if|in|local|return|set|then|until|while';
const SQL_WORDS =
  'and|as|by|create|delete|distinct|drop|exists|from|group|having|in|index|insert|into|is|join|left|like|limit|not|null|on|or|order|primary|key|select|set|table|union|update|values|where';

const STRINGS = '"(?:\\\\.|[^"\\\\\\n])*"|\'(?:\\\\.|[^\'\\\\\\n])*\'|`(?:\\\\.|[^`\\\\])*`';
const NUMBERS = '\\b(?:0x[\\da-fA-F]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b';

function expression(comments: string, strings: string, words: string, flags = 'g'): RegExp {
  return new RegExp(`(${comments})|(${strings})|(${NUMBERS})|\\b(${words})\\b`, flags);
}

const C_LIKE = expression('//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)', STRINGS, C_WORDS);
const PYTHON = expression('#[^\\n]*', `"""[\\s\\S]*?(?:"""|$)|'''[\\s\\S]*?(?:'''|$)|${STRINGS}`, PYTHON_WORDS);
const SHELL = expression('(?<=^|\\s)#[^\\n]*', STRINGS, SHELL_WORDS, 'gm');
const SQL = expression('--[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)', STRINGS, SQL_WORDS, 'gi');
const DATA = expression('(?<=^|\\s)(?:#|//)[^\\n]*', STRINGS, 'true|false|null|yes|no', 'gm');

const LANGUAGES: Record<string, RegExp> = Object.fromEntries([
  ...'c cc cpp c++ h hpp cs csharp go java javascript js jsx kotlin kt php rust rs scala swift ts tsx typescript css scss less'
    .split(' ')
    .map((name) => [name, C_LIKE] as const),
  ...'python py python3 ruby rb'.split(' ').map((name) => [name, PYTHON] as const),
  ...'bash sh shell zsh console dockerfile makefile make'.split(' ').map((name) => [name, SHELL] as const),
  ['sql', SQL],
  ...'json jsonc yaml yml toml ini'.split(' ').map((name) => [name, DATA] as const),
]);

export function isLanguage(name: string): boolean {
  return Object.hasOwn(LANGUAGES, name.toLowerCase());
}

/** The language of a file by its name; undefined if it is none of those here. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const extension = name.slice(name.lastIndexOf('.') + 1);
  return isLanguage(extension) ? extension : undefined;
}

/**
 * The strings, numbers and keywords of one line of a diff that a person decides on, with their places in it. Comments have no
 * color there: whether a place is one may depend on other lines, and code that runs must not look as if it did not.
 */
export function lineTokens(line: string, language: string): PlacedToken[] {
  const placed: PlacedToken[] = [];
  let start = 0;
  for (const { kind, text } of highlight(line, language)) {
    const end = start + text.length;
    if (kind !== 'plain' && kind !== 'comment') placed.push({ kind, start, end });
    start = end;
  }
  return placed;
}

/** The code in pieces, whose texts make up the whole again. */
export function highlight(code: string, language: string): Token[] {
  const known = isLanguage(language) ? LANGUAGES[language.toLowerCase()] : undefined;
  if (!known || code.length > LIMIT) return [{ kind: 'plain', text: code }];
  const tokens: Token[] = [];
  let end = 0;
  for (const match of code.matchAll(known)) {
    if (match[0] === '') continue;
    if (match.index > end) tokens.push({ kind: 'plain', text: code.slice(end, match.index) });
    const [, comment, string, number] = match;
    const kind =
      comment !== undefined ? 'comment' : string !== undefined ? 'string' : number !== undefined ? 'number' : 'keyword';
    tokens.push({ kind, text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < code.length) tokens.push({ kind: 'plain', text: code.slice(end) });
  return tokens;
}
