/**
 * The subject of a card: what will happen, from the gate's preview. Nothing is cut; what is very long has a folded
 * middle, and says so to its card, which takes no approval until it was opened.
 */
import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';

import type * as wire from '../src/wire.gen.ts';
import { type DiffRow, unifiedDiff } from './diff.ts';
import { icon, revealed, sentence } from './drawn.ts';
import { t } from './l10n.ts';
import { shortPath } from './words.ts';

export interface SubjectView {
  /** Of whom it is, for the names of its regions: there may be several on the page. */
  of: string;
  workspace?: string;
  home?: string;
  /** The folded middle was opened. */
  unfolded: boolean;
  /** The input of a tool as raw JSON. */
  raw: boolean;
  unfold(): void;
  toggleRaw(): void;
}

/** Rows drawn at once; past it the middle is folded. */
const FOLD_AT = 800;
const HEAD = 400;
const TAIL = 200;

/** Whether there is a folded middle that has to be opened before the card may be approved. */
export function isFolded(approval: wire.ApprovalRequest, unfolded: boolean): boolean {
  return !unfolded && rowCount(approval.preview) > FOLD_AT;
}

export function subjectView(approval: wire.ApprovalRequest, view: SubjectView): TemplateResult {
  const { preview } = approval;
  switch (preview.kind) {
    case 'command':
      return commandView(preview, view, approval.reason);
    case 'diff':
      return diffView(preview, view);
    case 'fetch':
      return html`<pre class="code" tabindex="0" role="region" aria-label=${t('Address of {0}', view.of)}><span class="verb">${revealed(preview.method)}</span> ${revealed(preview.url)}</pre>`;
    case 'tool':
      return toolView(preview, view);
  }
}

/** +a −b of a change; undefined for what is no change of a file. */
export function changeSize(preview: wire.ApprovalRequest['preview']): { added: number; removed: number } | undefined {
  if (preview.kind !== 'diff' || preview.tooLarge || preview.operation === 'move') return undefined;
  const { added, removed } = cachedDiff(preview);
  return { added, removed };
}

export function sizeBadge({ added, removed }: { added: number; removed: number }): TemplateResult {
  return html`<span class="size" aria-label=${t('{0} lines added, {1} removed', added, removed)}><span class="plus">+${added}</span> <span class="minus">−${removed}</span></span>`;
}

const diffs = new WeakMap<object, ReturnType<typeof unifiedDiff>>();

function cachedDiff(preview: wire.DiffPreview): ReturnType<typeof unifiedDiff> {
  let diff = diffs.get(preview);
  if (!diff) diffs.set(preview, (diff = unifiedDiff(preview.oldText, preview.operation === 'delete' ? '' : preview.newText)));
  return diff;
}

function rowCount(preview: wire.ApprovalRequest['preview']): number {
  switch (preview.kind) {
    case 'command':
      return preview.command.split('\n').length;
    case 'diff':
      return preview.tooLarge ? Number.POSITIVE_INFINITY : cachedDiff(preview).rows.length;
    case 'tool':
      return (JSON.stringify(preview.input, null, 2) ?? '').split('\n').length;
    case 'fetch':
      return 1;
  }
}

function commandView(preview: wire.CommandPreview, view: SubjectView, reason: string): TemplateResult {
  const lines = preview.command.split('\n');
  const facts = [preview.cwd === view.workspace ? t('in the workspace') : t('in {0}', shortPath(preview.cwd, view.workspace, view.home)), ...(preview.timeout ? [t('at most {0} s', preview.timeout)] : []), ...(preview.background ? [t('in the background')] : [])];
  return html`<div class="code" tabindex="0" role="region" aria-label=${t('Command of {0}', view.of)}>${guard([preview, view.unfolded], () => folded(lines, view, textRow))}</div>
    ${preview.parts.length > 1
      ? html`<ul class="parts" aria-label=${t('Parts of the command')}>
          ${preview.parts.map((part) => html`<li class="part ${part.verdict}">${verdictIcon(part.verdict)}<code>${revealed(part.text)}</code><span class="why">${part.evidence.rule ? html`<code>${revealed(part.evidence.rule)}</code>` : part.evidence.reason === reason ? nothing : sentence(part.evidence.reason)}</span></li>`)}
        </ul>`
      : nothing}
    <p class="facts">${revealed(facts.join(' · '))}</p>`;
}

export function verdictIcon(verdict: wire.Verdict): TemplateResult {
  const [name, word] = verdict === 'allow' ? ['check', t('allowed')] : verdict === 'deny' ? ['circle-slash', t('denied')] : ['question', t('asks')];
  return html`<span class="verdict ${verdict}" title=${word}>${icon(name)}<span class="sr">${word}</span></span>`;
}

function diffView(preview: wire.DiffPreview, view: SubjectView): TemplateResult {
  // The path stands in the head, whole; only a move has another.
  const to = preview.to === undefined ? nothing : html`<p class="path">${t('to')} <code>${revealed(shortPath(preview.to, view.workspace, view.home))}</code></p>`;
  if (preview.tooLarge) return html`${to}<p class="notice">${icon('warning')} ${t('Too large to be drawn here: open the diff to see it.')}</p>`;
  if (preview.operation === 'move') return html`${to}`;
  return html`${to}${guard([preview, view.unfolded], () => diffTable(cachedDiff(preview).rows, view))}`;
}

function textRow(line: string): TemplateResult {
  return html`<span class="row">${revealed(line)}${'\n'}</span>`;
}

/** A diff as rows; also drawn in the transcript, of what was done. */
export function diffTable(rows: readonly DiffRow[], view: Pick<SubjectView, 'of' | 'unfolded' | 'unfold'>): TemplateResult {
  if (rows.length === 0) return html`<p class="facts">${t('An empty file; no lines change.')}</p>`;
  return html`<div class="code diff" tabindex="0" role="region" aria-label=${t('Diff of {0}', view.of)}><div class="diff-rows">${folded(rows, view, diffRow)}</div></div>`;
}

function diffRow(row: DiffRow): TemplateResult {
  switch (row.kind) {
    case 'gap':
      return html`<div class="row gap">${row.lines === 1 ? t('1 unchanged line') : t('{0} unchanged lines', row.lines)}</div>`;
    case 'note':
      return html`<div class="row gap">${row.text}</div>`;
    default: {
      const sign = row.kind === 'added' ? '+' : row.kind === 'removed' ? '−' : ' ';
      return html`<div class="row ${row.kind}"><span class="line-number" aria-hidden="true">${row.newLine ?? row.oldLine}</span><span class="sign">${sign}</span><span class="line-text">${revealed(row.text)}</span></div>`;
    }
  }
}

function folded<T>(rows: readonly T[], view: Pick<SubjectView, 'unfolded' | 'unfold'>, draw: (row: T) => TemplateResult): (TemplateResult | TemplateResult[])[] {
  if (view.unfolded || rows.length <= FOLD_AT) return [rows.map(draw)];
  const hidden = rows.length - HEAD - TAIL;
  return [
    rows.slice(0, HEAD).map(draw),
    html`<button type="button" class="unfold" @click=${view.unfold}>${icon('unfold')} ${t('Show {0} lines in the middle; until then this cannot be approved', hidden)}</button>`,
    rows.slice(-TAIL).map(draw),
  ];
}

function toolView(preview: wire.ToolPreview, view: SubjectView): TemplateResult {
  const { input } = preview;
  const isTable = typeof input === 'object' && input !== null && !Array.isArray(input) && Object.keys(input).length > 0;
  const toggle = isTable ? html`<button type="button" class="link" aria-pressed=${view.raw ? 'true' : 'false'} @click=${view.toggleRaw}>${t('Raw JSON')}</button>` : nothing;
  if (!isTable || view.raw) {
    const lines = (JSON.stringify(input, null, 2) ?? t('no input')).split('\n');
    return html`<div class="code" tabindex="0" role="region" aria-label=${t('Input of {0}', view.of)}>${folded(lines, view, textRow)}</div>${toggle}`;
  }
  return html`<table class="input">
      <caption class="sr">${t('Input')}</caption>
      <tbody>${Object.entries(input).map(([name, value]) => html`<tr><th scope="row">${revealed(name)}</th><td>${inputValue(value)}</td></tr>`)}</tbody>
    </table>
    ${toggle}`;
}

function inputValue(value: unknown): TemplateResult {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return html`<span class="value ${typeof value}">${revealed(text)}</span>`;
}
