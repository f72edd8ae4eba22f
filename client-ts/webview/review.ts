/**
 * Everything that waits, in one list, to be answered together. Each request stands there whole; only what was ticked,
 * and was on the screen, is approved, and each is recorded by itself.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { isTooLarge } from '../src/subject.ts';
import type * as wire from '../src/wire.gen.ts';
import { Arming } from './arming.ts';
import { type Bridge, textActions } from './bridge.ts';
import { optionOf } from './answers.ts';
import { Drawn, fullSentence, icon, revealed, serverText, warnings } from './drawn.ts';
import { t } from './l10n.ts';
import type { State, Waiting } from './state.ts';
import { Press } from './press.ts';
import { wasSeen } from './seen.ts';
import { subjectView } from './subjectView.ts';
import { headlineOf, shortPath } from './words.ts';

export class Review extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    state: { attribute: false },
    ticks: { state: true },
    seen: { state: true },
    raw: { state: true },
    message: { state: true },
  };
  declare bridge: Bridge;
  declare state: State;
  /** By digest: what the person ticked or unticked; the rest is ticked unless it is risky. */
  declare private ticks: Readonly<Record<string, boolean>>;
  declare private seen: ReadonlySet<string>;
  declare private raw: ReadonlySet<string>;
  declare private message: string;

  private readonly arming = new Arming(this);
  private readonly press = new Press(this);
  private ready = false;
  private watcher: IntersectionObserver | undefined;

  constructor() {
    super();
    this.ticks = {};
    this.seen = new Set();
    this.raw = new Set();
    this.message = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (!('IntersectionObserver' in window)) return;
    this.watcher = new IntersectionObserver(
      (entries) => {
        const now = entries
          .filter((entry) => entry.isIntersecting)
          .map((entry) => (entry.target as HTMLElement).dataset['digest']!);
        if (now.some((digest) => !this.seen.has(digest))) this.seen = new Set([...this.seen, ...now]);
      },
      // The end of each row is watched: who saw that has seen the row. It is a pixel high and may lie across two, so half
      // of it is enough.
      { threshold: 0.5 },
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.watcher?.disconnect();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('state');
    if (!before) return;
    const known = new Set(before.waiting.map(({ approval }) => approval.digest));
    if (this.state.waiting.some(({ approval }) => !known.has(approval.digest))) this.arming.restart();
    this.arming.follow(this.state.windowFocused);
  }

  protected override updated(): void {
    this.press.follow(this.ready);
    for (const end of this.querySelectorAll('.review-end')) this.watcher?.observe(end);
  }

  private ticked({ approval }: Waiting): boolean {
    return !isTooLarge(approval) && (this.ticks[approval.digest] ?? approval.risks.length === 0);
  }

  private approvable(waiting: Waiting): boolean {
    const { approval } = waiting;
    return (
      !waiting.answering &&
      // What an approval keeps for the chat is approved on its own card.
      optionOf(approval, 'allow_once') !== undefined &&
      optionOf(approval, 'allow_once')?.scope !== 'chat' &&
      wasSeen(approval, this.state)
    );
  }

  protected override render(): TemplateResult {
    const ticked = this.state.waiting.filter((waiting) => this.ticked(waiting));
    const unseen = ticked.filter(
      ({ approval }) =>
        !wasSeen(approval, this.state) || (this.watcher !== undefined && !this.seen.has(approval.digest)),
    ).length;
    const connected = this.state.connection.state === 'running';
    this.ready =
      connected &&
      ticked.length > 0 &&
      unseen === 0 &&
      this.arming.armed &&
      ticked.every((waiting) => this.approvable(waiting));
    return html`<section class="page review" aria-label=${t('Review all')}>
      <div class="page-scroll" tabindex="0">${repeat(
        this.state.waiting,
        ({ approval }) => approval.approvalId,
        (waiting) => this.row(waiting),
      )}</div>
      <div class="page-foot">
        ${unseen > 0 ? html`<p class="facts">${t('{0} not seen yet: scroll to them first', unseen)}</p>` : nothing}
        <input class="message" type="text" aria-label=${t('Message to the agents')} placeholder=${t('Message to the agents')} .value=${this.message} @input=${(event: Event) => (this.message = (event.target as HTMLInputElement).value)} />
        <div class="buttons">
          <button type="button" class="primary" ?disabled=${!this.ready} @click=${() => this.answer('allow_once', ticked)}>${t('Approve {0} selected', ticked.length)}</button>
          <button type="button" class="secondary" ?disabled=${ticked.length === 0 || !connected} @click=${() => this.answer('reject_once', ticked)}>${t('Deny {0} selected', ticked.length)}</button>
        </div>
      </div>
    </section>`;
  }

  private row(waiting: Waiting): TemplateResult {
    const { approval, failed, answering } = waiting;
    const { workspace, home, threads } = this.state;
    const id = `review-${approval.approvalId}`;
    const title = threads.find((thread) => thread.threadId === approval.threadId)?.title;
    return html`<article class="card ${approval.risks.length > 0 ? 'risky' : ''}" aria-labelledby=${id} data-testid="review-row" data-approval-id=${approval.approvalId}>
      <label class="review-head"
        ><input type="checkbox" .checked=${this.ticked(waiting)} ?disabled=${answering} @change=${(event: Event) => this.tick(approval, (event.target as HTMLInputElement).checked)} /><span id=${id} class="card-title">${headlineOf(approval, (path) => shortPath(path, workspace, home))}</span></label
      >
      <div class="card-body">
        <p class="origin"><span class="agent">${revealed(approval.agentName)}</span>${title ? html` · ${t('from “{0}”', title)}` : nothing}</p>
        ${subjectView(approval, {
          of: t('request {0}', this.state.waiting.indexOf(waiting) + 1),
          workspace,
          home,
          raw: this.raw.has(approval.digest),
          toggleRaw: () => (this.raw = toggled(this.raw, approval.digest)),
          actions: textActions(this.bridge),
          onSeen: () => this.requestUpdate(),
        })}
        ${warnings(approval)}
        <p class="facts reason">${serverText(approval.reason, fullSentence)}</p>
        ${failed ? html`<p class="failed" role="alert">${icon('error')}<span>${serverText(failed)}</span></p>` : nothing}
      </div>
      <div class="review-end" data-digest=${approval.digest}></div>
    </article>`;
  }

  private tick(approval: wire.ApprovalRequest, checked: boolean): void {
    this.ticks = { ...this.ticks, [approval.digest]: checked };
  }

  private answer(decision: 'allow_once' | 'reject_once', chosen: readonly Waiting[]): void {
    if (decision === 'allow_once' && !this.press.counts) return;
    // Two clicks are one answer: the state is ahead of what is drawn.
    const open = new Set(this.bridge.state.waiting.filter((one) => !one.answering).map((one) => one.approval.digest));
    const cards = chosen
      .filter(({ approval }) => open.has(approval.digest))
      .map(({ approval: { approvalId, digest } }) => ({ approvalId, digest }));
    if (cards.length === 0) return;
    for (const { approvalId } of cards) this.bridge.dispatch({ type: 'answering', approvalId });
    const reason = decision === 'reject_once' && this.message.trim();
    this.bridge.post({ type: 'batch', cards, decision, ...(reason && { reason }) });
    this.message = '';
  }
}

function toggled(set: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

customElements.define('cs-review', Review);
