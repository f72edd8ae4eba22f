/**
 * The subject of a card: what will happen, from the gate's preview, in a box that scrolls. Nothing is cut; what was not
 * in view yet is counted, and its card takes no approval until it was.
 */
import { html, nothing, type TemplateResult } from 'lit';

import type * as wire from '../src/wire.gen.ts';
import { icon } from './drawn.ts';
import { t } from './l10n.ts';
import { type Actions, markdown } from './markdown.ts';
import { diffOf, hasTable } from './rows.ts';
import './rowsView.ts';
import { seenOf } from './seen.ts';

export interface SubjectView {
  /** Of whom it is, for the names of its regions: there may be several on the page. */
  of: string;
  workspace?: string;
  home?: string;
  /** The input of a tool as raw JSON. */
  raw: boolean;
  toggleRaw(): void;
  /** What can be done with the links and the code of a plan. */
  actions: Actions;
  /** Something came into view. */
  onSeen(): void;
}

export function subjectView(approval: wire.ApprovalRequest, view: SubjectView): TemplateResult {
  const { preview } = approval;
  const seen = seenOf(approval, view, view.raw);
  const rows =
    seen.rows.length > 0
      ? html`<cs-rows class="subject" .label=${regionName(preview, view.of)} .look=${look(preview, view.raw)} .rows=${seen.rows} .block=${preview.kind === 'plan' ? (text: string) => markdown(text, view.actions) : undefined} .seen=${seen} @seen=${view.onSeen}></cs-rows>`
      : nothing;
  if (preview.kind === 'diff') {
    if (preview.tooLarge)
      return html`${rows}<p class="notice">${icon('warning')} ${t('Too large to be drawn here: open the diff to approve or deny it there.')}</p>`;
    return seen.rows.length === 0 ? html`<p class="facts">${t('An empty file; no lines change.')}</p>` : html`${rows}`;
  }
  if (preview.kind === 'plan')
    return html`<p class="facts">${t('The plan, in the agent’s own words:')}</p>${rows}<button type="button" class="link" aria-pressed=${view.raw ? 'true' : 'false'} @click=${view.toggleRaw}>${t('Plain text')}</button>`;
  if (!hasTable(preview)) return html`${rows}`;
  return html`${rows}<button type="button" class="link" aria-pressed=${view.raw ? 'true' : 'false'} @click=${view.toggleRaw}>${t('Raw JSON')}</button>`;
}

function look(preview: wire.Preview, raw: boolean): string {
  switch (preview.kind) {
    case 'diff':
      return 'diff';
    case 'tool':
      return 'input';
    case 'plan':
      return raw ? '' : 'plan';
    default:
      return '';
  }
}

function regionName(preview: wire.Preview, of: string): string {
  switch (preview.kind) {
    case 'command':
      return t('Command of {0}', of);
    case 'diff':
      return t('Diff of {0}', of);
    case 'fetch':
      return t('Address of {0}', of);
    case 'host':
      return t('Host of {0}', of);
    case 'plan':
      return t('Plan of {0}', of);
    case 'tool':
      return t('Input of {0}', of);
  }
}

/** +a −b of a change; undefined for what is no change of a file. */
export function changeSize(preview: wire.ApprovalRequest['preview']): { added: number; removed: number } | undefined {
  if (preview.kind !== 'diff' || preview.tooLarge || preview.operation === 'move') return undefined;
  const { added, removed } = diffOf(preview);
  return { added, removed };
}

export function sizeBadge({ added, removed }: { added: number; removed: number }): TemplateResult {
  return html`<span class="size" aria-label=${t('{0} lines added, {1} removed', added, removed)}><span class="plus">+${added}</span> <span class="minus">−${removed}</span></span>`;
}
