/** A tool call in the transcript: while it waits or runs, and afterwards as one line that opens to what was done and why. */
import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';

import { type Kept, keptIn } from '../src/kept.ts';
import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import type { CallItem } from './chat.ts';
import { unifiedDiff } from './diff.ts';
import { clipped, Drawn, icon, revealed, serverText, withheldButtons } from './drawn.ts';
import { t } from './l10n.ts';
import { diffRows, refusalRows, type Row, textRows } from './rows.ts';
import './rowsView.ts';
import { sizeBadge } from './subjectView.ts';
import { inputFacts } from './receiptWords.ts';
import { undoButton } from './undo.ts';
import { byWords, durationWords, keptWords, shortPath, trackingWords } from './words.ts';

const TITLE_LIMIT = 500;

export class CallRow extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    item: { attribute: false },
    approvalId: {},
    postponed: { type: Boolean },
    why: { attribute: false },
    kept: { attribute: false },
    undone: { attribute: false },
    builtin: { type: Boolean },
    opened: { state: true },
  };
  declare bridge: Bridge;
  declare item: CallItem;
  /** The open approval of this call, if one waits. */
  declare approvalId: string | undefined;
  /** The person put its approval off. */
  declare postponed: boolean;
  declare why: readonly wire.HistoryEntry[] | undefined;
  /** What the answer to this call left behind, as far as this window knows. */
  declare kept: Kept | 'takenBack' | undefined;
  /** Its change was taken back here; the row is drawn again then. */
  declare undone: boolean;
  /** The call is of an agent that is known to be built in, whose titles are the gate's words. */
  declare builtin: boolean;
  declare private opened: boolean;

  constructor() {
    super();
    this.opened = false;
    this.undone = false;
    this.postponed = false;
    this.builtin = false;
  }

  protected override render(): TemplateResult {
    return this.item.result ? this.decided(this.item.result) : this.open();
  }

  private open(): TemplateResult {
    const { call, output } = this.item;
    const waits = this.approvalId !== undefined || call.status === 'waiting';
    return html`<div class="call ${waits ? (this.postponed ? 'put-off' : 'waits') : ''}">
      <div class="call-line">
        ${waits ? icon(this.postponed ? 'bell-slash' : 'bell-dot') : icon('loading', 'codicon-modifier-spin')}
        <span class="call-title">${this.titleText()}</span>
        <span class="call-how">${waits ? (this.postponed ? t('put off') : t('waiting')) : call.status === 'running' ? t('running') : ''}</span>
        ${this.approvalId === undefined ? nothing : html`<button type="button" class="link" @click=${this.showCard}>${t('Show')}</button>`}
        ${
          call.kind === 'execute' && call.status === 'running' && !waits
            ? html`<button type="button" class="tool" aria-label=${t('Move to background')} title=${t('Move to background')} @click=${() => this.bridge.post({ type: 'shellToBackground', toolCallId: call.toolCallId })}>${icon('layers')}</button>`
            : nothing
        }
      </div>
      ${this.left()} ${output ? rowsView(output, textRows, t('Output'), 'output', this.follow) : nothing}
    </div>`;
  }

  private decided(result: wire.ToolResultEvent): TemplateResult {
    const { refusal } = result;
    const [name, word, look] = refusal
      ? refusalLook(refusal)
      : result.success
        ? (['pass', t('Allowed'), 'done'] as const)
        : (['error', t('Failed'), 'failed'] as const);
    const how = [
      refusal || !result.success ? word : '',
      byWords(result.decidedBy),
      result.sandbox === undefined ? '' : result.sandbox === 'readOnly' ? t('read-only sandbox') : t('sandboxed'),
      durationWords(result.durationMs),
    ]
      .filter(Boolean)
      .join(' · ');
    return html`<div class="decided ${look}" data-testid="decided-row" data-tool-call-id=${result.toolCallId} data-decided-by=${result.decidedBy}>
      <button type="button" class="decided-line" aria-expanded=${this.opened ? 'true' : 'false'} @click=${this.toggle}>
        ${icon(name)}<span class="sr">${word}: </span><span class="call-title">${this.titleText()}</span>${result.diff ? sizeBadge(result.diff) : nothing}<span class="call-how">${how}</span>${icon(this.opened ? 'chevron-down' : 'chevron-right')}
      </button>
      ${this.left()} ${this.opened ? this.details(result, refusal) : nothing}
    </div>`;
  }

  /** What the answer left behind, to be taken back by one press. */
  private left(): TemplateResult | typeof nothing {
    const kept = this.kept ?? (this.why && keptIn(this.why));
    if (kept === undefined) return nothing;
    if (kept === 'takenBack') return html`<p class="kept facts">${t('The rule from this answer was taken back.')}</p>`;
    return html`<p class="kept facts" data-testid="kept">
      <span>${keptWords(kept)} <code>${revealed(kept.rule)}</code></span>
      <button type="button" class="link" aria-label=${t('Take back {0}', kept.rule)} @click=${this.takeBack}>${t('Take back')}</button>
    </p>`;
  }

  private titleText(): (string | TemplateResult)[] {
    const { call } = this.item;
    const { facts } = this.bridge.state;
    const sub = call.subagent ? ` (${call.subagent})` : '';
    const fact = facts[call.toolCallId];
    if (!this.builtin && fact !== undefined) return clipped(`${fact}${sub}`, TITLE_LIMIT);
    const title = clipped(`${call.title || call.tool}${sub}`, TITLE_LIMIT);
    // Any other agent's own words are marked as such, also where the agent is not known (any more).
    return this.builtin ? title : [html`<q>${title}</q>`];
  }

  private details(result: wire.ToolResultEvent, refusal: wire.CallRefusal | undefined): TemplateResult {
    const { state } = this.bridge;
    const { diff } = result;
    const isShownAsDiff = diff !== undefined && (diff.oldText !== undefined || diff.newText !== undefined);
    const text = isShownAsDiff || refusal ? undefined : result.output;
    return html`<div class="decided-body">
      ${result.path ? html`<p class="path"><a href="#" @click=${this.openPath(result.path)}><code>${revealed(shortPath(result.path, state.workspace, state.home))}</code></a></p>` : nothing}
      ${this.item.call.rawInput === undefined || diff ? nothing : rowsView(inputText(this.item.call.rawInput), textRows, t('Input'))}
      ${isShownAsDiff ? rowsView(diff, ({ oldText, newText }) => diffRows(unifiedDiff(oldText, newText ?? '').rows, false, result.path), t('Diff of {0}', this.item.call.title ?? this.item.call.tool), 'diff') : nothing}
      ${refusal && !isShownAsDiff ? rowsView(refusal, refusalRows, t('Output'), 'output', this.follow) : nothing}
      ${text ? rowsView(text, textRows, t('Output'), 'output', this.follow) : nothing} ${this.evidence()}
      ${result.processTracking === undefined ? nothing : html`<p class="facts" data-testid="process-tracking">${trackingWords(result.processTracking)}</p>`}
      ${withheldButtons(result.withheld, state.trusted, (name) => this.bridge.post({ type: 'passVariable', name }))}
      <div class="row-buttons">
        ${result.receiptId ? undoButton(result.receiptId, this.why ?? [], this.bridge) : nothing}
        ${result.decidedBy === 'rule' || result.decidedBy === 'grant' || result.decidedBy === 'user' ? html`<button type="button" class="link" @click=${this.showRules}>${t('Rules and grants')}</button>` : nothing}
      </div>
    </div>`;
  }

  private evidence(): TemplateResult | typeof nothing {
    const found = this.why?.find((entry) => entry.evidence.length > 0)?.evidence ?? [];
    if (found.length === 0) return nothing;
    return html`<ul class="effects" aria-label=${t('Why')}>${found.map((evidence) => html`<li>${icon('info')}<span>${serverText(evidence.reason)} ${evidence.rule ? html`<code>${revealed(evidence.rule)}</code>` : nothing} ${evidence.file ? html`<a href="#" @click=${this.openPath(evidence.file, evidence.line)}>${shortPath(evidence.file, this.bridge.state.workspace, this.bridge.state.home)}${evidence.line === undefined ? '' : `:${evidence.line}`}</a>` : nothing}</span></li>`)}</ul>`;
  }

  private readonly toggle = (): void => {
    this.opened = !this.opened;
    if (this.opened && !this.why) this.bridge.post({ type: 'history', toolCallId: this.item.call.toolCallId });
  };

  private readonly showCard = (): void => {
    if (this.approvalId === undefined) return;
    if (this.postponed) this.bridge.post({ type: 'postpone', approvalId: this.approvalId, postponed: false });
    else this.bridge.dispatch({ type: 'cursor', approvalId: this.approvalId });
  };

  private readonly takeBack = (): void => {
    this.bridge.post({ type: 'takeBack', toolCallId: this.item.call.toolCallId });
  };

  private readonly showRules = (): void => {
    this.bridge.dispatch({ type: 'page', page: 'rules' });
  };

  private readonly follow = (path: string, line?: number): void => {
    this.bridge.post({ type: 'openFile', path, ...(line !== undefined && { line }) });
  };

  private openPath(path: string, line?: number): (event: Event) => void {
    return (event) => {
      event.preventDefault();
      this.bridge.post({ type: 'openFile', path, ...(line !== undefined && { line }) });
    };
  }
}

function rowsView<T>(
  of: T,
  rows: (of: T) => Row[],
  label: string,
  look = '',
  open?: (path: string, line?: number) => void,
): TemplateResult {
  return html`${guard([of], () => html`<cs-rows .label=${label} .look=${look} .open=${open} .rows=${rows(of)}></cs-rows>`)}`;
}

function refusalLook({ kind }: wire.CallRefusal): readonly [string, string, string] {
  switch (kind) {
    case 'denied':
      return ['circle-slash', t('Denied'), 'denied'];
    case 'planMode':
      return ['circle-slash', t('Not in Plan mode'), 'denied'];
    case 'mode':
      return ['circle-slash', t('Denied'), 'denied'];
    case 'limit':
      return ['circle-slash', t('Limit reached'), 'denied'];
    case 'expired':
      return ['clock', t('Timed out'), 'ended'];
    case 'interrupted':
      return ['debug-disconnect', t('Interrupted'), 'ended'];
    default:
      return ['close', t('Cancelled'), 'ended'];
  }
}

function inputText(input: unknown): string {
  if (typeof input === 'object' && input !== null && 'command' in input && typeof input.command === 'string')
    return input.command;
  return inputFacts(input)
    .map(([name, value]) => (value.includes('\n') ? `${name}:\n${value}` : `${name}: ${value}`))
    .join('\n');
}

customElements.define('cs-call', CallRow);
