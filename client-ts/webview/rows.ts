/**
 * The subject of a card as rows of text: what will happen, from the gate's preview, in the order in which it happens.
 * A row is a line; a long line is cut into segments, which are drawn one after the other and seen one by one. Pure.
 */
import { reveal } from '../src/reveal.ts';
import { isElided, longNames } from '../src/subject.ts';
import type * as wire from '../src/wire.gen.ts';
import { type Diff, type DiffRow, type Range, unifiedDiff } from './diff.ts';
import { languageOf, lineTokens, type PlacedToken } from './highlight.ts';
import { fromServer, t } from './l10n.ts';
import { sourceBlocks } from './markdownBlocks.ts';
import { shortPath } from './words.ts';

export type RowKind = 'text' | 'added' | 'removed' | 'same' | 'gap' | 'fact' | 'field' | 'part' | 'block';

export interface Row {
  kind: RowKind;
  segments: readonly string[];
  /** Before the text: a line number, the name of a field. */
  lead?: string;
  /** It goes on from the row before, without a newline between. */
  continued?: boolean;
  /** Has to be in view before an approval counts. */
  must: boolean;
  /** What the gate warns of in this row. */
  risks?: readonly string[];
  verdict?: wire.Verdict;
  /** What is warned of beside the text, without a place in the strip: the line it stands in has that. */
  warns?: readonly string[];
  /** Characters of the row's text that are marked, as the changed words of a line. */
  words?: readonly Range[];
  /** What of the row's text has a color, as the keywords of a program. */
  tokens?: readonly PlacedToken[];
  /** Its text as the server said it, where what is drawn is a translation. */
  original?: string;
  /** Why a part has its verdict, in the gate's words. */
  why?: string;
}

export interface Place {
  workspace?: string;
  home?: string;
}

/** Characters of a longest line, and of all lines of one diff, that get colors. */
const COLORED_LINE = 2000;
const COLORED = 200_000;
/** About six lines of a narrow view. */
const SEGMENT = 240;
/** Segments of one row; a longer line goes on in another row. */
const ROW_SEGMENTS = 60;
/** An escape takes this much room. */
const ESCAPE = 8;
/** As wide as the style sheet draws one. */
const TAB = 4;

export function segmentsOf(text: string): string[] {
  if (text.length * ESCAPE <= SEGMENT) return [text];
  const segments: string[] = [];
  let start = 0;
  let cost = 0;
  let end = 0;
  for (const character of text) {
    const next = character === '\t' ? TAB : reveal(character).length;
    if (cost + next > SEGMENT) {
      segments.push(text.slice(start, end));
      start = end;
      cost = 0;
    }
    cost += next;
    end += character.length;
  }
  segments.push(text.slice(start));
  return segments;
}

/** The rows of one line. */
function lineRows(text: string, row: Omit<Row, 'segments'>): Row[] {
  const segments = segmentsOf(text);
  if (segments.length <= ROW_SEGMENTS) return [{ ...row, segments }];
  const rows: Row[] = [];
  for (let at = 0; at < segments.length; at += ROW_SEGMENTS) {
    rows.push({
      ...row,
      segments: segments.slice(at, at + ROW_SEGMENTS),
      ...(at > 0 && { continued: true, lead: undefined }),
    });
  }
  return rows;
}

/** Why the gate refused a call, and what its model was told, which stands there as it was told. */
export function refusalRows({ reason, hint }: wire.CallRefusal): Row[] {
  const translated = fromServer(reason);
  const original = translated === reason ? {} : { original: reason };
  return `${translated}. ${hint}`
    .split('\n')
    .flatMap((line) => lineRows(line, { kind: 'text', must: false, ...original }));
}

/** Any text as rows, to be read only. */
export function textRows(text: string): Row[] {
  return text.split('\n').flatMap((line) => lineRows(line, { kind: 'text', must: false }));
}

/** `path` tells the language that the lines are colored as. */
export function diffRows(rows: readonly DiffRow[], must: boolean, path = ''): Row[] {
  const language = languageOf(path);
  let colored = 0;
  const tokensOf = (line: string): PlacedToken[] => {
    colored += line.length;
    return language !== undefined && line.length <= COLORED_LINE && colored <= COLORED
      ? lineTokens(line, language)
      : [];
  };
  return rows.flatMap((row) => {
    switch (row.kind) {
      case 'gap':
        return [
          {
            kind: 'gap' as const,
            segments: [row.lines === 1 ? t('1 unchanged line') : t('{0} unchanged lines', row.lines)],
            must: false,
          },
        ];
      case 'note':
        return [{ kind: 'gap' as const, segments: [row.text], must }];
      default:
        return withMarks(
          lineRows(row.text, {
            kind: row.kind,
            lead: String(row.newLine ?? row.oldLine ?? ''),
            must: must && row.kind !== 'same',
          }),
          row.words ?? [],
          tokensOf(row.text),
        );
    }
  });
}

/** The rows of one line with its marked words and its colors, each counted from the beginning of its row. */
function withMarks(rows: readonly Row[], words: readonly Range[], tokens: readonly PlacedToken[]): Row[] {
  if (words.length + tokens.length === 0) return [...rows];
  let start = 0;
  return rows.map((row) => {
    const end = start + row.segments.join('').length;
    const own = cutRanges(words, start, end);
    const colors = cutTokens(tokens, start, end);
    start = end;
    return { ...row, ...(own.length > 0 && { words: own }), ...(colors.length > 0 && { tokens: colors }) };
  });
}

/** What of the tokens lies between two places, counted from the first. */
export function cutTokens(tokens: readonly PlacedToken[], start: number, end: number): PlacedToken[] {
  return tokens
    .map((token) => ({ ...token, start: Math.max(token.start, start) - start, end: Math.min(token.end, end) - start }))
    .filter((token) => token.start < token.end);
}

/** What of the ranges lies between two places, counted from the first. */
export function cutRanges(ranges: readonly Range[], start: number, end: number): Range[] {
  return ranges
    .map(([from, to]) => [Math.max(from, start) - start, Math.min(to, end) - start] as const)
    .filter(([from, to]) => from < to);
}

/** All rows of a request's subject. `raw` draws a tool's input as JSON. */
export function subjectRows({ preview, toolCall }: wire.ApprovalRequest, place: Place, raw = false): Row[] {
  const lead = longNames(preview, toolCall, (path) => shortPath(path, place.workspace, place.home)).flatMap(
    ([name, value]) => fact(namesOf()[name], value),
  );
  switch (preview.kind) {
    case 'command':
      return [...lead, ...commandRows(preview, place)];
    case 'diff': {
      const to = preview.to === undefined ? [] : fact(t('to'), shortPath(preview.to, place.workspace, place.home));
      const changes =
        preview.tooLarge || preview.operation === 'move'
          ? []
          : diffRows(diffOf(preview).rows, true, preview.to ?? preview.path);
      return [...lead, ...to, ...changes];
    }
    case 'fetch':
      return [...lead, ...lineRows(preview.url, { kind: 'field', lead: preview.method, must: true })];
    case 'host':
      return [
        ...lead,
        ...lineRows(`${preview.host}:${preview.port}`, { kind: 'text', must: true }),
        ...fact(t('wanted by'), preview.command),
      ];
    case 'plan':
      return [...lead, ...(raw ? sourceRows(preview.markdown) : planRows(preview.markdown))];
    case 'tool':
      return [...lead, ...(raw || !isTable(preview.input) ? jsonRows(preview.input) : tableRows(preview.input))];
  }
}

function namesOf(): Record<'path' | 'tool' | 'server', string> {
  return { path: t('File'), tool: t('Tool'), server: t('Server') };
}

function fact(name: string, value: string): Row[] {
  return lineRows(oneLine(value), { kind: 'fact', lead: name, must: true });
}

/** More of one block is not drawn as Markdown: it would be higher than what can be seen piece by piece. */
const BLOCK_LINES = 20;
const BLOCK_CHARACTERS = 600;

/** A plan, each block of its Markdown a row of its own; what drawing would hide stands there as its source. */
function planRows(markdown: string): Row[] {
  return sourceBlocks(markdown).flatMap(({ text, drawn }): Row[] =>
    drawn && text.length <= BLOCK_CHARACTERS && text.split('\n').length <= BLOCK_LINES
      ? [{ kind: 'block', segments: [text], must: true }]
      : sourceRows(text),
  );
}

function sourceRows(text: string): Row[] {
  return text.split('\n').flatMap((line) => lineRows(line, { kind: 'text', must: true }));
}

function commandRows(preview: wire.CommandPreview, place: Place): Row[] {
  const dangers = dangerousLines(preview);
  const lines = preview.command.split('\n');
  const text = lines.flatMap((line, index) =>
    lineRows(line, { kind: 'text', must: true, ...(dangers.has(index) && { risks: dangers.get(index)! }) }),
  );
  const facts = [
    preview.cwd === place.workspace
      ? t('in the workspace')
      : t('in {0}', shortPath(preview.cwd, place.workspace, place.home)),
    ...(preview.timeout ? [t('at most {0} s', preview.timeout)] : []),
    ...(preview.background ? [t('in the background')] : []),
    ...(preview.sandbox ? [sandboxWords(preview.sandbox)] : []),
  ];
  const gaps = preview.sandbox?.gaps ?? [];
  const translated = gaps.map(fromServer);
  // The parts say again what the text says, each with its verdict.
  const parts = preview.parts.length > 1 ? preview.parts.flatMap(partRows) : [];
  const original = gaps.join() === translated.join() ? {} : { original: [...facts, ...gaps].join(' · ') };
  const fact = lineRows(oneLine([...facts, ...translated].join(' · ')), { kind: 'fact', must: true, ...original });
  return [...text, ...fact, ...parts];
}

function sandboxWords({ network, hosts }: wire.SandboxPreview): string {
  if (network === 'none') return t('runs in the sandbox: writes only here, no network');
  if (network === 'all') return t('runs in the sandbox: writes only here, reaches public hosts');
  return hosts.length === 0
    ? t('runs in the sandbox: writes only here, reaches only hosts that you allow')
    : t('runs in the sandbox: writes only here, reaches only {0} and hosts that you allow', hosts.join(', '));
}

/** One part with its verdict and dangers. One that has no place in the text, and is dangerous, has to be seen here. */
function partRows(part: wire.CommandPart): Row[] {
  const risks = dangersOf(part);
  const warned = risks.length === 0 ? {} : part.start === undefined ? { risks, warns: risks } : { warns: risks };
  return lineRows(oneLine(part.text), {
    kind: 'part',
    must: risks.length > 0 && part.start === undefined,
    verdict: part.verdict,
    ...warned,
    ...(part.evidence.rule !== undefined && { why: part.evidence.rule }),
  });
}

function dangersOf(part: wire.CommandPart): string[] {
  return (part.risks ?? []).filter(({ severity }) => severity === 'danger').map(({ text }) => text);
}

/** By line of the command, what the gate warns of in the parts that stand there. */
function dangerousLines({ command, parts }: wire.CommandPreview): Map<number, readonly string[]> {
  const found = new Map<number, string[]>();
  let line = 0;
  let at = 0;
  for (const part of [...parts]
    .filter(({ start }) => start !== undefined)
    .sort((one, other) => (one.start ?? 0) - (other.start ?? 0))) {
    for (
      let next = command.indexOf('\n', at);
      next >= 0 && next < (part.start ?? 0);
      next = command.indexOf('\n', at)
    ) {
      line++;
      at = next + 1;
    }
    const risks = dangersOf(part);
    if (risks.length > 0) found.set(line, [...new Set([...(found.get(line) ?? []), ...risks])]);
  }
  return found;
}

function isTable(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input) && Object.keys(input).length > 0;
}

export function hasTable(preview: wire.ApprovalRequest['preview']): boolean {
  return preview.kind === 'tool' && isTable(preview.input);
}

function jsonRows(input: unknown): Row[] {
  return (JSON.stringify(input, null, 2) ?? t('no input'))
    .split('\n')
    .flatMap((line) => lineRows(line, { kind: 'text', must: true }));
}

function tableRows(input: Record<string, unknown>): Row[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
    // A name that would not fit before its value stands above it, whole.
    const head = isElided(name) ? lineRows(oneLine(name), { kind: 'field', lead: '', must: true }) : [];
    return [
      ...head,
      ...text.split('\n').flatMap((line, index) =>
        lineRows(line, {
          kind: 'field',
          must: true,
          ...(index === 0 && { lead: head.length > 0 ? '=' : oneLine(name) }),
        }),
      ),
    ];
  });
}

function oneLine(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

const diffs = new WeakMap<object, Diff>();

export function diffOf(preview: wire.DiffPreview): Diff {
  let diff = diffs.get(preview);
  if (!diff)
    diffs.set(preview, (diff = unifiedDiff(preview.oldText, preview.operation === 'delete' ? '' : preview.newText)));
  return diff;
}
