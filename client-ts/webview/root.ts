/**
 * The whole view: header, page, open approvals, composer; and what concerns several of them: keys, focus, the live
 * region.
 *
 * INVARIANT (nothing by accident): the focus moves to a card only when the person asked for it, by Next, Previous or
 * Focus Pending. When a card that held it goes, the focus stays with the queue and not with the next card.
 */
import { html, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { createRef, ref, type Ref } from 'lit/directives/ref.js';

import type { CardAction, Page } from '../src/messages.ts';
import { revealLine } from '../src/reveal.ts';
import type { Bridge } from './bridge.ts';
import { Card } from './card.ts';
import { Composer } from './composer.ts';
import { Drawn, icon, sentence, serverText } from './drawn.ts';
import './chats.ts';
import './history.ts';
import { t } from './l10n.ts';
import './picker.ts';
import type { Choice } from './picker.ts';
import type { QuestionCard } from './question.ts';
import './question.ts';
import './review.ts';
import './rules.ts';
import './shells.ts';
import { currentChat, type Note, shownCard, shownQuestion } from './state.ts';
import './transcript.ts';
import { timeWords } from './words.ts';

export class Root extends Drawn {
  static override properties = { bridge: { attribute: false } };
  declare bridge: Bridge;

  private cardHeldFocus = false;
  /** Where the person was when they asked for a card by a command; a key or press in the view says that they are here. */
  private cameFrom: 'editor' | 'view' = 'view';
  private inView = false;
  /** Digest of the card that was on the screen when the view lost the focus, such as to the palette. */
  private shownBefore: string | undefined;
  private readonly drawnCard: Ref<Card> = createRef();
  /** Where the focus goes once the card asked for is drawn. */
  private focusNext: 'card' | 'next' | 'previous' | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('keydown', this.onKey);
    window.addEventListener('blur', this.onBlur);
    window.addEventListener('focus', this.onFocus);
    for (const type of ['keydown', 'pointerdown'] as const) window.addEventListener(type, this.forgetShown, true);
    this.bridge.onChange(() => this.requestUpdate());
    this.bridge.onAction((action) => this.act(action));
    this.bridge.onChooseMode((mode) => this.querySelector<Composer>('cs-composer')?.chooseMode(mode));
    this.bridge.post({ type: 'ready' });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('keydown', this.onKey);
    window.removeEventListener('blur', this.onBlur);
    window.removeEventListener('focus', this.onFocus);
    for (const type of ['keydown', 'pointerdown'] as const) window.removeEventListener(type, this.forgetShown, true);
  }

  protected override willUpdate(): void {
    this.cardHeldFocus = this.card?.contains(document.activeElement) ?? false;
  }

  protected override updated(): void {
    const card = this.card;
    if (this.focusNext && card) {
      const target = this.focusNext;
      this.focusNext = undefined;
      void card.updateComplete.then(() => {
        const button =
          target === 'card'
            ? null
            : card.querySelector<HTMLElement>(
                `[aria-label="${target === 'next' ? t('Next approval') : t('Previous approval')}"]`,
              );
        (button ?? card.querySelector<HTMLElement>('.card'))?.focus();
      });
    } else if (this.cardHeldFocus && !card?.contains(document.activeElement)) {
      if (card) this.querySelector<HTMLElement>('.queue')?.focus();
      else this.giveFocusBack();
    }
  }

  /** After the last card: to the text box, or to the editor if the person came from there. */
  private giveFocusBack(): void {
    if (this.cameFrom === 'editor') this.bridge.post({ type: 'focusEditor' });
    else {
      const composer = this.querySelector<Composer>('cs-composer');
      if (composer) composer.focusText();
      else this.querySelector<HTMLElement>('.page-scroll')?.focus();
    }
    this.cameFrom = 'view';
  }

  private get card(): Card | null {
    return this.drawnCard.value ?? null;
  }

  protected override render(): TemplateResult {
    const { bridge } = this;
    const { state } = bridge;
    const waiting = shownCard(state);
    const active = state.waiting.filter((one) => !one.postponed);
    const putOff = state.waiting.length - active.length;
    const position = waiting ? active.indexOf(waiting) + 1 : 0;
    return html`<div class="sr" role="status" aria-live="polite">${state.saying}</div>
      ${this.header()} ${this.connection()} ${state.notes.map((note) => html`<div class="note ${note.level}" role=${note.level === 'error' ? 'alert' : 'note'}>${icon(note.level)}<span title=${note.ended ? originalOf(note.ended) : nothing}>${note.ended ? sentence(note.message) : serverText(note.message)}</span>${note.ended ? html`<button type="button" class="link" @click=${() => this.show('history')}>${t('Approval history')}</button>` : nothing}<button type="button" class="tool" aria-label=${t('Close')} @click=${() => bridge.dispatch({ type: 'noteClosed', id: note.id })}>${icon('close')}</button></div>`)}
      <main class="main" @compose=${({ detail }: CustomEvent<string>) => this.querySelector<Composer>('cs-composer')?.compose(detail)}><h1 class="sr">Countersign</h1>${this.page()} ${
        state.waiting.length > 0 && state.page !== 'review'
          ? html`<section class="queue" data-testid="queue" tabindex="-1" aria-label=${t('Open approvals')} @stepped=${this.onStepped}>
            ${
              state.waiting.length > 1 || putOff > 0
                ? html`<div class="queue-head"><span>${putOff > 0 ? t('{0} waiting, {1} put off', state.waiting.length, putOff) : t('{0} waiting', state.waiting.length)}</span><button type="button" class="link" @click=${() => bridge.dispatch({ type: 'page', page: 'review' })}>${t('Review all')}</button></div>`
                : nothing
            }
            ${waiting ? keyed(waiting.approval.approvalId, html`<cs-card ${ref(this.drawnCard)} .bridge=${bridge} .waiting=${waiting} .position=${position} .total=${active.length} .windowFocused=${state.windowFocused} .connected=${state.connection.state === 'running'}></cs-card>`) : nothing}
          </section>`
          : nothing
      }
      ${state.page === 'review' ? nothing : this.questions(waiting !== undefined)}
      ${state.page === 'chat' ? html`<cs-composer .bridge=${bridge} .state=${state}></cs-composer>` : nothing}</main>`;
  }

  /** Questions of agents, one on the screen; while an approval is there, only that they wait. */
  private questions(behind: boolean): TemplateResult | typeof nothing {
    const { state } = this.bridge;
    const open = shownQuestion(state);
    if (!open) return nothing;
    const total = state.questions.length;
    if (behind)
      return html`<p class="questions-behind facts" data-testid="questions-behind">${icon('comment-discussion')} ${total === 1 ? t('1 question waits behind this approval') : t('{0} questions wait behind this approval', total)}</p>`;
    return html`<section class="queue" data-testid="questions" aria-label=${t('Open questions')}>
      ${keyed(open.question.elicitationId, html`<cs-question .bridge=${this.bridge} .open=${open} .position=${state.questions.indexOf(open) + 1} .total=${total} .windowFocused=${state.windowFocused} .connected=${state.connection.state === 'running'}></cs-question>`)}
    </section>`;
  }

  private header(): TemplateResult {
    const { state } = this.bridge;
    if (state.page !== 'chat') {
      return html`<header class="bar"><button type="button" class="tool" aria-label=${t('Back to the chat')} title=${t('Back to the chat')} @click=${() => this.show('chat')}>${icon('arrow-left')}</button><h2 class="bar-title">${pageTitle(state.page)}</h2></header>`;
    }
    const tools: [Page, string, string][] = [
      ['chats', 'list-unordered', t('All chats')],
      ['history', 'history', t('Approval history')],
      ['shells', 'terminal', t('Shells')],
      ['rules', 'law', t('Rules')],
    ];
    return html`<header class="bar">
      <cs-picker class="chat-picker" .label=${t('Chat')} .value=${state.current ?? ''} .empty=${t('New chat')} .choices=${this.chats()} @picked=${({ detail }: CustomEvent<string>) => this.openChat(detail)}></cs-picker>
      <span class="spring"></span>
      <button type="button" class="tool" aria-label=${t('New chat')} title=${t('New chat')} @click=${this.newChat}>${icon('add')}</button>
      ${tools.map(([page, name, title]) => html`<button type="button" class="tool" aria-label=${title} title=${title} @click=${() => this.show(page)}>${icon(name)}</button>`)}
      ${state.current === undefined ? nothing : html`<button type="button" class="tool" aria-label=${t('Delete this chat')} title=${t('Delete this chat')} @click=${() => this.bridge.post({ type: 'deleteThread', threadId: state.current! })}>${icon('trash')}</button>`}
    </header>`;
  }

  private chats(): Choice[] {
    const { threads, waiting, questions, current } = this.bridge.state;
    const choices = threads.map((thread) => ({
      value: thread.threadId,
      name: thread.title || t('New chat'),
      explanation: `${thread.agentName} · ${timeWords(thread.updatedAt)}`,
      count:
        waiting.filter(({ approval }) => approval.threadId === thread.threadId).length +
        questions.filter(({ question }) => question.threadId === thread.threadId).length,
    }));
    const known = current === undefined || threads.some((thread) => thread.threadId === current);
    return known ? choices : [{ value: current, name: t('New chat') }, ...choices];
  }

  private connection(): TemplateResult | typeof nothing {
    const { connection } = this.bridge.state;
    if (connection.state === 'running') return nothing;
    if (connection.state === 'starting')
      return html`<div class="connection">${icon('loading', 'codicon-modifier-spin')}<span>${connection.message ?? t('The server is starting')}</span></div>`;
    return html`<div class="connection stopped" role="alert">
      ${icon('error')}<span>${serverText(connection.message ?? t('The server is not running.'))}</span>
      <button type="button" class="link" @click=${() => this.bridge.post({ type: 'restartServer' })}>${t('Restart Server')}</button>
    </div>`;
  }

  private page(): TemplateResult {
    const { bridge } = this;
    const { state } = bridge;
    switch (state.page) {
      case 'chat':
        return html`<cs-transcript .bridge=${bridge} .state=${state} .chat=${currentChat(state)}></cs-transcript>`;
      case 'chats':
        return html`<cs-chats .bridge=${bridge} .state=${state}></cs-chats>`;
      case 'history':
        return html`<cs-history .bridge=${bridge} .state=${state}></cs-history>`;
      case 'shells':
        return html`<cs-shells .bridge=${bridge} .state=${state}></cs-shells>`;
      case 'rules':
        return html`<cs-rules .bridge=${bridge} .state=${state}></cs-rules>`;
      case 'review':
        return html`<cs-review .bridge=${bridge} .state=${state}></cs-review>`;
    }
  }

  private show(page: Page): void {
    this.bridge.dispatch({ type: 'page', page });
  }

  private openChat(threadId: string): void {
    this.bridge.dispatch({ type: 'openChat', threadId });
    this.bridge.post({ type: 'openThread', threadId });
  }

  private readonly newChat = (): void => {
    this.bridge.dispatch({ type: 'openChat' });
    void this.updateComplete.then(() => this.querySelector<Composer>('cs-composer')?.focusText());
  };

  private act(action: CardAction): void {
    const card = this.card;
    const held = card?.contains(document.activeElement) ?? false;
    switch (action) {
      case 'approve':
        return this.actOn(card, held, (one) => one.approve());
      case 'allowChat':
        return this.actOn(card, held, (one) => one.allowForChat());
      case 'deny':
        return this.denyShown(card, held);
      case 'next':
        return this.step(1);
      case 'previous':
        return this.step(-1);
      case 'focus':
        return this.focusCard();
      case 'stop':
        return this.querySelector<Composer>('cs-composer')?.stop();
      case 'newChat':
        return this.newChat();
    }
  }

  /** Only the card that holds the focus, or was on the screen before the palette opened; else it says why not. */
  private actOn(card: Card | null, held: boolean, act: (card: Card) => void): void {
    const same = card !== null && (held || card.waiting.approval.digest === this.shownBefore);
    const why = !card
      ? t('No approval is on the screen')
      : same
        ? card.obstacle
        : t('This card was not on the screen before; look at it first');
    this.shownBefore = undefined;
    if (card && why === undefined) act(card);
    else this.bridge.dispatch({ type: 'notice', level: 'info', message: t('Nothing was approved. {0}.', why ?? '') });
  }

  /** Not one that took the place of the card that was on the screen; without a view that had the focus, the one there. */
  private denyShown(card: Card | null, held: boolean): void {
    const before = this.shownBefore;
    this.shownBefore = undefined;
    if (card && (held || before === undefined || card.waiting.approval.digest === before)) return card.deny();
    const why = card
      ? t('This card was not on the screen before; look at it first')
      : t('No approval is on the screen');
    this.bridge.dispatch({ type: 'notice', level: 'info', message: t('Nothing was denied. {0}.', why) });
  }

  /** A command of the palette is meant for the webview that had the focus before. */
  private readonly onFocus = (): void => this.bridge.post({ type: 'focused' });

  private readonly onBlur = (): void => {
    this.inView = false;
    this.shownBefore = this.card?.waiting.approval.digest;
  };

  private readonly forgetShown = (): void => {
    this.inView = true;
    this.shownBefore = undefined;
  };

  private focusCard(): void {
    const { state } = this.bridge;
    if (state.page === 'review') return;
    if (!shownCard(state) && state.questions.length > 0) {
      const question = this.querySelector<QuestionCard>('cs-question');
      return void question?.updateComplete.then(() => question.querySelector<HTMLElement>('.question')?.focus());
    }
    // All that waits was put off: they come back in the list.
    if (!shownCard(state) && state.waiting.length > 0) return this.bridge.dispatch({ type: 'page', page: 'review' });
    this.cameFrom = this.inView ? 'view' : 'editor';
    this.focusNext = 'card';
    this.requestUpdate();
  }

  private step(by: 1 | -1, from: 'card' | 'next' | 'previous' = 'card'): void {
    if (!this.card) return;
    this.focusNext = from;
    this.bridge.dispatch({ type: 'step', by });
  }

  private readonly onStepped = ({ detail }: CustomEvent<{ by: 1 | -1; from: 'next' | 'previous' }>): void =>
    this.step(detail.by, detail.from);

  private readonly onKey = (event: KeyboardEvent): void => {
    const command = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter' && command && event.altKey && !event.repeat) {
      event.preventDefault();
      this.card?.deny();
    } else if (event.altKey && !command && !event.shiftKey && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      this.step(event.key === 'ArrowDown' ? 1 : -1);
    }
  };
}

/** What a note says of what ended, as the server said it, where that is not what is drawn. */
function originalOf(ended: NonNullable<Note['ended']>): string | typeof nothing {
  return ended.every(({ words, original }) => words === original)
    ? nothing
    : ended.map(({ original }) => revealLine(original)).join('\n');
}

function pageTitle(page: Page): string {
  return {
    chat: t('Chat'),
    chats: t('Chats'),
    history: t('Approval history'),
    shells: t('Shells'),
    rules: t('Rules'),
    review: t('Review all'),
  }[page];
}

customElements.define('countersign-desk', Root);
