/** Places in files, `src/a.py:12`, as they stand in messages and in the output of commands. Pure. */

export interface Place {
  path: string;
  line?: number;
}

/** What has no such ending is taken for a host and port, or a number of any kind. */
const ENDINGS =
  'c|cc|cfg|cpp|cs|css|csv|go|h|hpp|html|ini|ipynb|java|js|json|jsonc|jsx|kt|lock|lua|md|mjs|mts|php|proto|py|pyi|rb|rs|rst|scss|sh|sql|svelte|swift|toml|ts|tsx|txt|vue|xml|yaml|yml|zig';
const PATH = `(?:[A-Za-z]:[\\/]|\\.{0,2}/)?(?:[\\w.@+-]+[\\/])*[\\w.@+-]+\\.(?:${ENDINGS})`;
const WITH_LINE = new RegExp(`(?<![\\w@/.:+-])(${PATH}):(\\d{1,7})(?::\\d+)?(?![\\w/])`, 'g');
const WHOLE = new RegExp(`^(${PATH})(?::(\\d{1,7})(?::\\d+)?)?$`);

export interface Part {
  text: string;
  place?: Place;
}

/** The text in parts, those that name a place in a file with that place. */
export function withPlaces(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(WITH_LINE)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    parts.push({ text: match[0], place: { path: match[1]!, line: Number(match[2]) } });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The place that a piece of inline code names as a whole; a bare file name without a folder or line is too little. */
export function asPlace(code: string): Place | undefined {
  const match = WHOLE.exec(code);
  if (!match) return undefined;
  const [, path, line] = match;
  if (line === undefined && !/[\\/]/.test(path!)) return undefined;
  return line === undefined ? { path: path! } : { path: path!, line: Number(line) };
}
