/**
 * One approval request: its head, subject, why and buttons, drawn from the gate's request. Sends answers that carry the
 * id and digest of what is on the screen.
 *
 * INVARIANT (nothing by accident): an approving input counts only when the card has stood unchanged for half a second in
 * a focused window, all of its subject was in view, no answer is on its way, and the press began after all that was so.
 * Denying is never delayed.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { editableInput, withEdit } from '../src/editedInput.ts';
import { isTooLarge } from '../src/subject.ts';
import type * as wire from '../src/wire.gen.ts';
import { Arming } from './arming.ts';
import { Press } from './press.ts';
import { type Bridge, textActions } from './bridge.ts';
import { inputEditor, type Panel, panelView } from './cardPanels.ts';
import { whyBox } from './cardWhy.ts';
import { type Answer, approveEntries, denyEntries, optionOf } from './answers.ts';
import { Drawn, icon, revealed, serverText, warnings } from './drawn.ts';
import { t } from './l10n.ts';
import './menu.ts';
import type { Waiting } from './state.ts';
import { changeSize, sizeBadge, subjectView } from './subjectView.ts';
import { RowsView } from './rowsView.ts';
import { wasSeen } from './seen.ts';
import { headlineOf, labelName, labelWords, modeExplanation, shortPath, timeWords } from './words.ts';

export class Card extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    waiting: { attribute: false },
    position: { type: Number },
    total: { type: Number },
    windowFocused: { attribute: false },
    connected: { attribute: false },
    panel: { state: true },
    raw: { state: true },
    whyOpen: { state: true },
  };
  declare bridge: Bridge;
  declare waiting: Waiting;
  declare position: number;
  declare total: number;
  declare windowFocused: boolean;
  /** A server is there that takes an answer. */
  declare connected: boolean;
  declare private panel: Panel;
  declare private raw: boolean;
  declare private whyOpen: boolean;

  private readonly arming = new Arming(this);
  private readonly press = new Press(this);

  constructor() {
    super();
    this.panel = { kind: 'none' };
    this.raw = false;
    this.whyOpen = false;
    this.windowFocused = true;
    this.connected = true;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('waiting');
    if (changed.has('waiting') && before?.approval.digest !== this.waiting.approval.digest) {
      this.panel = { kind: 'none' };
      this.arming.restart();
    }
    // Its buttons are disabled now, which would leave the focus nowhere.
    if (before && !before.answering && this.waiting.answering && this.contains(document.activeElement))
      this.querySelector<HTMLElement>('.card')?.focus();
    if (changed.has('windowFocused')) this.arming.follow(this.windowFocused);
  }

  /** For commands and keys; does nothing while the card takes no approval. */
  approve(): void {
    if (this.panel.kind === 'rule') return this.sendRule();
    if (this.panel.kind === 'message') return;
    const option = optionOf(this.waiting.approval, 'allow_once');
    if (option) this.sendApproval({ optionId: option.optionId, ...this.edit() });
  }

  deny(more: Pick<Answer, 'stop'> = {}): void {
    const option = optionOf(this.waiting.approval, 'reject_once');
    if (option)
      this.send({
        optionId: option.optionId,
        ...more,
        ...(this.panel.kind === 'message' && this.panel.text.trim() && { reason: this.panel.text.trim() }),
      });
  }

  allowForChat(): void {
    const option = this.waiting.approval.options.find((one) => one.kind === 'allow_always' && one.scope === 'chat');
    if (option) this.sendApproval({ optionId: option.optionId });
  }

  /** Why an approving input would not count now; undefined if it would. */
  get obstacle(): string | undefined {
    if (!this.connected) return t('The server is not running');
    if (this.answers) return t('An answer is on its way');
    if (!this.arming.armed) return t('Just a moment');
    if (isTooLarge(this.waiting.approval)) return t('Too large for a card: approve it in the diff editor');
    if (!wasSeen(this.waiting.approval, this.bridge.state)) return t('Scroll through all of it first');
    return undefined;
  }

  /** An answer is on its way; as the state knows it, which is ahead of what is drawn. */
  private get answers(): boolean {
    return (
      this.bridge.state.waiting.find((one) => one.approval.approvalId === this.waiting.approval.approvalId)
        ?.answering ?? true
    );
  }

  private send(answer: Answer): void {
    if (this.answers || !this.connected) return;
    const { approvalId, digest } = this.waiting.approval;
    this.bridge.dispatch({ type: 'answering', approvalId });
    this.bridge.post({ type: 'answer', approvalId, digest, ...answer });
  }

  private sendApproval(answer: Answer): void {
    if (this.obstacle === undefined && this.press.counts) this.send(answer);
  }

  protected override updated(): void {
    this.press.follow(this.obstacle === undefined);
  }

  private sendRule(): void {
    if (this.panel.kind === 'rule' && this.panel.rule.trim())
      this.sendApproval({ optionId: this.panel.option.optionId, rule: this.panel.rule.trim() });
  }

  private edit(): Pick<Answer, 'editedInput'> {
    const { approval } = this.waiting;
    if (this.panel.kind !== 'edit' || this.panel.text === editableInput(approval)) return {};
    return { editedInput: withEdit(approval, this.panel.text) };
  }

  protected override render(): TemplateResult {
    const { approval, answering, failed } = this.waiting;
    const state = answering ? 'answering' : this.arming.armed ? 'waiting' : 'arming';
    return html`<section
      class="card ${approval.risks.length > 0 ? 'risky' : ''}"
      role="group"
      aria-labelledby="card-head-${approval.approvalId}"
      tabindex="-1"
      data-testid="approval-card"
      data-approval-id=${approval.approvalId}
      data-state=${state}
      @keydown=${this.onKey}
    >
      ${this.head()}
      ${this.origin()} ${warnings(approval)}
      <div class="card-subject">${this.panel.kind === 'edit' ? inputEditor(this.panel.text, this.change) : this.subject()}</div>
      ${whyBox(approval, this.bridge, this.whyOpen, this.toggleWhy)}
      ${failed ? html`<p class="failed" role="alert">${icon('error')}<span>${serverText(failed)}</span></p>` : nothing} ${panelView(this.panel, approval, this.change)} ${this.buttons()}
    </section>`;
  }

  private head(): TemplateResult {
    const { approval } = this.waiting;
    const { workspace, home } = this.bridge.state;
    const size = changeSize(approval.preview);
    return html`<header class="card-head">
      ${icon(kindIcon(approval))}
      <h2 id="card-head-${approval.approvalId}" class="card-title">${headlineOf(approval, (path) => shortPath(path, workspace, home))}</h2>
      ${size ? sizeBadge(size) : nothing}
      ${
        this.total > 1
          ? html`<span class="card-position">${t('{0} of {1}', this.position, this.total)}</span>
            <button type="button" class="tool" aria-label=${t('Previous approval')} title=${t('Previous approval')} @click=${() => this.step(-1)}>${icon('chevron-left')}</button>
            <button type="button" class="tool" aria-label=${t('Next approval')} title=${t('Next approval')} @click=${() => this.step(1)}>${icon('chevron-right')}</button>`
          : nothing
      }
    </header>`;
  }

  private step(by: 1 | -1): void {
    this.dispatchEvent(
      new CustomEvent('stepped', { detail: { by, from: by === 1 ? 'next' : 'previous' }, bubbles: true }),
    );
  }

  /** Which agent, which sub-agent, from which chat, until when. */
  private origin(): TemplateResult {
    const { approval } = this.waiting;
    const { state } = this.bridge;
    const agent = state.agents.find((one) => one.agentName === approval.agentName);
    const thread = state.threads.find((one) => one.threadId === approval.threadId);
    const elsewhere = approval.threadId !== state.current && thread;
    return html`<p class="origin">
      <span class="agent">${revealed(approval.agentName)}</span>${approval.subagent ? html`<span> › ${t('sub-agent {0}', approval.subagent)}</span>` : nothing}${
        agent?.type === 'acp'
          ? html` · <button type="button" class="label" data-testid="label" title=${labelWords(agent.label)} aria-expanded=${this.whyOpen ? 'true' : 'false'} aria-controls="card-why-${approval.approvalId}" @click=${this.toggleWhy}><span class="dot agent-${agent.label}" aria-hidden="true"></span>${labelName(agent.label)}</button>`
          : nothing
      }${elsewhere ? html`<span> · ${t('from “{0}”', thread.title)}</span>` : nothing}${approval.expiresAt ? html`<span> · ${t('until {0}', timeWords(approval.expiresAt))}</span>` : nothing}
    </p>`;
  }

  private subject(): TemplateResult {
    const { workspace, home } = this.bridge.state;
    return subjectView(this.waiting.approval, {
      of: t('the open request'),
      workspace,
      home,
      raw: this.raw,
      toggleRaw: () => (this.raw = !this.raw),
      actions: textActions(this.bridge),
      onSeen: () => this.requestUpdate(),
    });
  }

  private buttons(): TemplateResult {
    const { approval } = this.waiting;
    const { obstacle, panel } = this;
    const answering = this.waiting.answering || !this.connected;
    const once = optionOf(approval, 'allow_once');
    const background = approval.options.find((option) => option.background);
    const back =
      panel.kind === 'none'
        ? nothing
        : html`<button type="button" class="secondary" @click=${() => this.show({ kind: 'none' })}>${t('Back')}</button>`;
    if (panel.kind === 'rule') {
      return html`<div class="buttons"><button type="button" class="primary" aria-describedby="rule-meaning-${approval.approvalId}" ?disabled=${obstacle !== undefined || !panel.rule.trim()} @click=${this.sendRule}>${panel.option.scope === 'workspace' ? t('Always allow in this workspace') : t('Always allow everywhere')}</button>${back}</div>`;
    }
    const plan = approval.preview.kind === 'plan';
    const denial = plan ? t('Keep planning') : t('Deny');
    if (panel.kind === 'message')
      return html`<div class="buttons"><button type="button" class="primary" ?disabled=${answering} @click=${() => this.deny()}>${denial}</button>${back}</div>`;
    return html`<div class="buttons">
      ${
        once
          ? html`<span class="split">
            <button type="button" class="primary" ?disabled=${obstacle !== undefined} title=${obstacle ?? this.shortcut(t('Approve'), '⌘⏎', 'Ctrl+Enter')} @click=${this.approve}>${once.scope === 'chat' ? t('Allow for this chat') : t('Approve')}</button>
            ${panel.kind === 'none' && !plan ? html`<cs-menu primary .label=${t('Approve options')} ?disabled=${obstacle !== undefined} .entries=${approveEntries(approval, this.bridge.state.trusted)} @chosen=${this.onApproveOption}></cs-menu>` : nothing}
          </span>`
          : nothing
      }
      ${approval.options.filter(({ mode }) => mode !== undefined).map((option) => html`<button type="button" class="secondary with-mode" ?disabled=${obstacle !== undefined} title=${obstacle ?? modeExplanation(option.mode!)} @click=${() => this.sendApproval({ optionId: option.optionId })}>${option.mode === 'acceptEdits' ? t('Approve and accept edits') : t('Approve and ask before each change')}</button>`)}
      <span class="split">
        <button type="button" class="secondary" ?disabled=${answering} title=${this.shortcut(denial, '⌥⌘⏎', 'Ctrl+Alt+Enter')} @click=${() => this.deny()}>${denial}</button>
        <cs-menu .label=${plan ? t('Keep planning options') : t('Deny options')} ?disabled=${answering} .entries=${denyEntries(approval)} @chosen=${this.onDenyOption}></cs-menu>
      </span>
      ${panel.kind === 'none' ? html`<button type="button" class="secondary" ?disabled=${answering} title=${t('Decide nothing yet: it stays open and does not expire')} @click=${this.postpone}>${t('Not now')}</button>` : nothing}
      ${background && panel.kind === 'none' ? html`<button type="button" class="secondary" ?disabled=${obstacle !== undefined} @click=${() => this.sendApproval({ optionId: background.optionId })}>${t('Run in background')}</button>` : nothing}
      ${approval.preview.kind === 'diff' && approval.preview.operation !== 'move' ? html`<button type="button" class="secondary" @click=${this.openDiff}>${t('Open diff')}</button>` : nothing}
      ${
        editableInput(approval) !== undefined && once && panel.kind === 'none'
          ? html`<button type="button" class="tool" aria-label=${t('Edit')} title=${t('Edit before it runs')} @click=${() => this.show({ kind: 'edit', text: editableInput(approval) ?? '' })}>${icon('edit')}</button>`
          : back
      }
      ${once ? nothing : html`<p class="facts">${t('This agent offers no way to allow it once, so it can only be denied.')}</p>`}
    </div>`;
  }

  /** Behind it stands what the label means, too. */
  private readonly toggleWhy = (): void => {
    this.whyOpen = !this.whyOpen;
  };

  private shortcut(name: string, mac: string, other: string): string {
    return `${name} (${this.bridge.state.mac ? mac : other})`;
  }

  private readonly change = (panel: Panel): void => {
    this.panel = panel;
  };

  private async show(panel: Panel): Promise<void> {
    this.panel = panel;
    await this.updateComplete;
    // The person asked for the field by pressing a button of this card.
    this.querySelector<HTMLElement>('textarea')?.focus();
  }

  private readonly postpone = (): void => {
    this.bridge.post({ type: 'postpone', approvalId: this.waiting.approval.approvalId, postponed: true });
  };

  private readonly openDiff = (): void => {
    this.bridge.post({ type: 'openDiff', approvalId: this.waiting.approval.approvalId });
  };

  private readonly onApproveOption = ({ detail: id }: CustomEvent<string>): void => {
    const { approval } = this.waiting;
    if (id === 'bypass') {
      if (this.obstacle !== undefined || !this.press.counts) return;
      const { approvalId, digest } = approval;
      this.bridge.dispatch({ type: 'answering', approvalId });
      this.bridge.post({ type: 'bypass', approvalId, digest });
    } else if (id === 'rule') {
      const option = approval.options.find(
        (one) => one.kind === 'allow_always' && (one.scope === 'workspace' || one.scope === 'user'),
      );
      if (option) void this.show({ kind: 'rule', option, rule: option.rule ?? '' });
    } else this.sendApproval({ optionId: id });
  };

  private readonly onDenyOption = ({ detail: id }: CustomEvent<string>): void => {
    if (id === 'message') void this.show({ kind: 'message', text: '' });
    else if (id === 'stop') this.deny({ stop: true });
    else this.send({ optionId: id });
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.panel.kind !== 'none') {
      event.stopPropagation();
      this.panel = { kind: 'none' };
      this.querySelector<HTMLElement>('.card')?.focus();
    }
    if (
      event.key === 'PageDown' &&
      !(event.target instanceof HTMLTextAreaElement) &&
      this.panel.kind === 'none' &&
      !wasSeen(this.waiting.approval, this.bridge.state)
    ) {
      event.preventDefault();
      void this.querySelector<RowsView>('cs-rows')?.step();
    }
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.repeat)
      return;
    event.preventDefault();
    event.stopPropagation();
    if (this.panel.kind === 'message') this.deny();
    else this.approve();
  };
}

function kindIcon({ preview, toolCall }: wire.ApprovalRequest): string {
  switch (preview.kind) {
    case 'command':
      return 'terminal';
    case 'diff':
      return preview.operation === 'delete'
        ? 'trash'
        : preview.operation === 'move'
          ? 'arrow-swap'
          : preview.operation === 'create'
            ? 'new-file'
            : 'edit';
    case 'fetch':
    case 'host':
      return 'globe';
    case 'plan':
      return 'checklist';
    case 'tool':
      return toolCall.kind === 'read' || toolCall.kind === 'search' ? 'file' : 'tools';
  }
}

customElements.define('cs-card', Card);
