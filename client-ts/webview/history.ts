/** The approval history: who or what decided each call, by which rule, what ran and how it ended. */
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { Drawn, fullSentence, icon, revealed, serverText } from './drawn.ts';
import { figures } from './figures.ts';
import { t } from './l10n.ts';
import './picker.ts';
import type { State } from './state.ts';
import { inputFacts, outcomeFacts, sourceWords } from './receiptWords.ts';
import { undoButton } from './undo.ts';
import { byWords, toolWords, shortPath, timeWords } from './words.ts';

/** The phases of one call, put together: each row of the ledger adds what it knows. */
export interface Receipt {
  receiptId: string;
  /** Number of the first row that is known of it. */
  first: number;
  latest: wire.HistoryEntry;
  evidence: readonly wire.Evidence[];
  verdict?: wire.Verdict;
  by?: wire.DecidedBy;
  outcome?: Record<string, unknown>;
}

interface Filter {
  agent?: string;
  verdict?: string;
  /** Hours back. */
  since?: string;
}

export class History extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    state: { attribute: false },
    opened: { state: true },
    text: { state: true },
    filter: { state: true },
    withFigures: { state: true },
  };
  declare bridge: Bridge;
  declare state: State;
  declare private opened: string | undefined;
  declare private text: string;
  declare private filter: Filter;
  declare private withFigures: boolean;

  constructor() {
    super();
    this.text = '';
    this.filter = {};
    this.withFigures = false;
  }

  protected override render(): TemplateResult {
    const { entries, cursor, loaded } = this.state.history;
    const receipts = receiptsOf(entries);
    return html`<section class="page" aria-label=${t('Approval history')}>
      ${this.damage()}
      <form class="page-tools" role="search" @submit=${this.search}>
        <input type="search" aria-label=${t('Search the history')} placeholder=${t('Search')} .value=${this.text} @input=${(event: Event) => (this.text = (event.target as HTMLInputElement).value)} />
        <button type="submit" class="tool" aria-label=${t('Search')} title=${t('Search')}>${icon('search')}</button>
        <button type="button" class="tool" aria-label=${t('Figures')} title=${t('Figures')} aria-expanded=${this.withFigures ? 'true' : 'false'} @click=${this.toggleFigures}>${icon('graph')}</button>
        <button type="button" class="tool" aria-label=${t('Export')} title=${t('Export')} @click=${() => this.bridge.post({ type: 'exportHistory' })}>${icon('export')}</button>
      </form>
      <div class="page-tools filters" role="group" aria-label=${t('Filters')}>
        ${this.choice(
          'agent',
          t('Agent of the calls'),
          t('All agents'),
          this.agentNames().map((name) => [name, name]),
        )}
        ${this.choice('verdict', t('Verdict'), t('All verdicts'), [
          ['allow', t('Allowed')],
          ['deny', t('Denied')],
          ['ask', t('Asked')],
        ])}
        ${this.choice('since', t('Time'), t('Any time'), [
          ['1', t('Last hour')],
          ['24', t('Last 24 hours')],
          ['168', t('Last 7 days')],
        ])}
        <span class="spring"></span>${this.chain()}
      </div>
      <div class="page-scroll" tabindex="0">
        ${this.withFigures ? figures(this.state.stats) : nothing}
        ${repeat(
          receipts,
          (receipt) => receipt.receiptId,
          (receipt) => this.row(receipt),
        )}
        ${receipts.length === 0 ? html`<p class="empty">${loaded ? t('Nothing was decided yet.') : t('Loading')}</p>` : nothing}
        ${cursor === undefined ? nothing : html`<button type="button" class="link earlier" @click=${() => this.bridge.post({ type: 'history', cursor, ...this.wanted() })}>${t('Show earlier ones')}</button>`}
      </div>
    </section>`;
  }

  private agentNames(): string[] {
    const known = this.state.agents.map(({ agentName }) => agentName);
    return [...new Set([...known, ...this.state.history.entries.map(({ agentName }) => agentName)])];
  }

  private choice(
    name: keyof Filter,
    label: string,
    all: string,
    values: (readonly [string, string])[],
  ): TemplateResult {
    const chosen = this.filter[name] ?? '';
    const choose = ({ detail }: CustomEvent<string>): void => {
      this.filter = { ...this.filter, [name]: detail || undefined };
      this.ask();
    };
    const choices = [{ value: '', name: all }, ...values.map(([value, words]) => ({ value, name: words }))];
    return html`<cs-picker .label=${label} .value=${chosen} .empty=${all} .choices=${choices} @picked=${choose}></cs-picker>`;
  }

  /** What the person looks for, as the server takes it. */
  private wanted(): { text?: string; agentName?: string; verdict?: wire.Verdict; since?: string } {
    const { agent, verdict, since } = this.filter;
    const text = this.text.trim();
    return {
      ...(text && { text }),
      ...(agent && { agentName: agent }),
      ...(verdict && { verdict: verdict as wire.Verdict }),
      ...(since && { since: new Date(Date.now() - Number(since) * 3_600_000).toISOString() }),
    };
  }

  /** Whether the hash chain holds, where it does; damage has a banner of its own. */
  private chain(): TemplateResult | typeof nothing {
    const { ledger } = this.state;
    if (ledger?.state !== 'whole' && ledger?.state !== 'checking') return nothing;
    const words =
      ledger.state === 'whole' ? t('The chain of {0} rows is whole', ledger.rows) : t('The chain is being checked');
    return html`<span class="chain" title=${words} data-testid="chain">${icon(ledger.state === 'whole' ? 'verified' : 'loading')}<span class="sr">${words}</span></span>`;
  }

  /** What is wrong with the ledger. The button only asks: the extension draws the modal, and the server begins the chain. */
  private damage(): TemplateResult | typeof nothing {
    const { ledger } = this.state;
    if (ledger?.state === 'none')
      return html`<div class="connection stopped" role="alert" data-testid="ledger-banner">${icon('error')}<span>${t('There is no ledger, so nothing runs.')} ${serverText(ledger.reason ?? '')}</span></div>`;
    if (ledger?.state !== 'broken') return nothing;
    const where = ledger.brokenAt === undefined ? '' : ` ${t('The chain is broken at row {0}.', ledger.brokenAt)}`;
    return html`<div class="connection stopped" role="alert" data-testid="ledger-banner">
      ${icon('error')}<span>${t('The ledger is damaged, so only reads that need no approval run.')}${where} ${serverText(ledger.reason ?? '')}</span>
      <button type="button" class="link" @click=${() => this.bridge.post({ type: 'newLedgerChain' })}>${t('Begin a New Chain…')}</button>
    </div>`;
  }

  private row(receipt: Receipt): TemplateResult {
    const { latest } = receipt;
    const opened = this.opened === receipt.receiptId;
    const look =
      receipt.verdict === 'deny'
        ? ['circle-slash', t('denied'), 'denied']
        : receipt.verdict === 'allow'
          ? ['pass', t('allowed'), 'done']
          : ['clock', t('asked'), 'ended'];
    return html`<div class="decided ${look[2]}" data-testid="history-row" data-receipt-id=${receipt.receiptId} data-by=${receipt.by ?? nothing} data-verdict=${receipt.verdict ?? nothing}>
      <button type="button" class="decided-line" aria-expanded=${opened ? 'true' : 'false'} @click=${() => (this.opened = opened ? undefined : receipt.receiptId)}>
        ${icon(look[0]!)}<span class="call-title">${revealed(inputLine(latest))}</span><span class="call-how">${[look[1], receipt.by ? byWords(receipt.by) : '', timeWords(latest.at)].filter(Boolean).join(' · ')}</span>${icon(opened ? 'chevron-down' : 'chevron-right')}
      </button>
      ${opened ? this.details(receipt) : nothing}
    </div>`;
  }

  private details({ latest, evidence, outcome, receiptId }: Receipt): TemplateResult {
    const facts: [string, string][] = [
      [t('Agent'), latest.subagent ? `${latest.agentName} › ${latest.subagent}` : latest.agentName],
      [t('Tool'), toolWords(latest.tool)],
      ...outcomeFacts(outcome ?? {}, (path) => shortPath(path, this.state.workspace, this.state.home)),
      [t('Digest'), latest.digest],
    ];
    return html`<div class="decided-body">
      <dl class="facts-list input-facts" aria-label=${t('Input')}>${inputFacts(latest.input).map(([name, value]) => html`<dt>${revealed(name)}</dt><dd>${revealed(value)}</dd>`)}</dl>
      ${evidence.length > 0 ? html`<ul class="effects" aria-label=${t('Why')}>${evidence.map((one) => this.evidence(one))}</ul>` : nothing}
      <dl class="facts-list">${facts.map(([name, value]) => html`<dt>${revealed(name)}</dt><dd>${revealed(value)}</dd>`)}</dl>
      <div class="row-buttons">${undoButton(receiptId, [latest], this.bridge)}</div>
      <details class="raw"><summary>${t('Raw JSON')}</summary><pre class="code" tabindex="0" aria-label=${t('Raw JSON')}>${revealed(JSON.stringify({ tool: latest.tool, input: latest.input, outcome }, null, 2))}</pre></details>
    </div>`;
  }

  private evidence(one: wire.Evidence): TemplateResult {
    const { file, line } = one;
    const open = (event: Event): void => {
      event.preventDefault();
      if (file) this.bridge.post({ type: 'openFile', path: file, ...(line !== undefined && { line }) });
    };
    return html`<li>${icon('info')}<span><span class="effect-kind">${sourceWords(one.source)}</span> ${serverText(one.reason, fullSentence)} ${one.rule ? html`<code>${revealed(one.rule)}</code>` : nothing} ${file ? html`<a href="#" @click=${open}>${shortPath(file, this.state.workspace, this.state.home)}${line === undefined ? '' : `:${line}`}</a>` : nothing}</span></li>`;
  }

  private readonly search = (event: Event): void => {
    event.preventDefault();
    this.ask();
  };

  private ask(): void {
    const wanted = this.wanted();
    this.bridge.post({ type: 'history', ...wanted });
    if (this.withFigures) this.bridge.post({ type: 'historyStats', ...wanted });
  }

  private readonly toggleFigures = (): void => {
    this.withFigures = !this.withFigures;
    if (this.withFigures) this.bridge.post({ type: 'historyStats', ...this.wanted() });
  };
}

/** Entries, newest first, as one receipt each; the call that was made last comes first, however long others took. */
export function receiptsOf(entries: readonly wire.HistoryEntry[]): Receipt[] {
  const receipts = new Map<string, Receipt>();
  for (const entry of entries) {
    const known = receipts.get(entry.receiptId);
    receipts.set(entry.receiptId, {
      receiptId: entry.receiptId,
      first: Math.min(known?.first ?? entry.seq, entry.seq),
      latest: known?.latest ?? entry,
      evidence: known?.evidence.length ? known.evidence : entry.evidence,
      verdict: known?.verdict ?? entry.verdict,
      by: known?.by ?? entry.by,
      outcome: known?.outcome ?? entry.outcome,
    });
  }
  return [...receipts.values()].sort((one, other) => other.first - one.first);
}

function inputLine({ tool, input }: wire.HistoryEntry): string {
  if (typeof input === 'object' && input !== null) {
    for (const key of ['command', 'path', 'url', 'pattern']) {
      const value = (input as Record<string, unknown>)[key];
      if (typeof value === 'string') return key === 'command' ? value : `${toolWords(tool)}: ${value}`;
    }
  }
  return toolWords(tool);
}

customElements.define('cs-history', History);
