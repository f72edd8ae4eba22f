/** What was said and done in a chat. Finished items are drawn once; only what changed is drawn again. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';

import { revealLine, revealProse } from '../src/reveal.ts';
import type { Suggestion } from '../src/suggestions.ts';
import type * as wire from '../src/wire.gen.ts';
import { type Bridge, type Scroll, textActions } from './bridge.ts';
import './callRow.ts';
import { type Chat, isRunning, type Item } from './chat.ts';
import { clipped, Drawn, icon, serverText } from './drawn.ts';
import { Speech } from './speech.ts';
import { GrowingMarkdown } from './growingMarkdown.ts';
import { t } from './l10n.ts';
import { type Actions, markdown } from './markdown.ts';
import type { State } from './state.ts';
import { placeName, questionWords, shortPath } from './words.ts';

/** Drawn at once; earlier ones come when asked for. */
/** Characters of an agent's question in its row. */
const ASKED = 300;
const PAGE = 150;
/** As near to the end as this, in pixels, a person is reading along. */
const NEAR = 40;

export class Transcript extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    state: { attribute: false },
    chat: { attribute: false },
    shown: { state: true },
    away: { state: true },
    spoken: { state: true },
  };
  declare bridge: Bridge;
  declare state: State;
  declare chat: Chat | undefined;
  declare private shown: number;
  /** Scrolled away from the end. */
  declare private away: boolean;
  /** The paragraph that was completed last, for those who listen. */
  declare private spoken: string;

  private readonly speech = new Speech();
  /** The message that a model is writing, by its item's id. */
  private growing: { id: unknown; text: GrowingMarkdown } | undefined;
  private follows = true;
  /** The person turned a wheel or the like since the view last followed. */
  private scrolls = false;
  /** Where the view was scrolled to when that was last looked at. */
  private top = 0;
  /** Where this chat was left; gone to until the person scrolls, since what is drawn grows for a while. */
  private place: Scroll | undefined;
  private sizes: ResizeObserver | undefined;

  constructor() {
    super();
    this.shown = PAGE;
    this.away = false;
    this.spoken = '';
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('chat') && changed.get('chat')?.threadId !== this.chat?.threadId) {
      this.place = this.chat && this.bridge.scrollOf(this.chat.threadId);
      this.shown = this.place?.shown ?? PAGE;
      this.follows = this.place === undefined;
      this.away = !this.follows;
      this.speech.restart(this.chat?.items ?? []);
      this.spoken = '';
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes?.disconnect();
  }

  protected override firstUpdated(): void {
    // Rows are drawn a moment after this, and cards take room from below: what is read along stays in sight.
    if (!('ResizeObserver' in window)) return;
    this.sizes = new ResizeObserver(() => this.follow());
    for (const box of this.querySelectorAll('.transcript, .transcript-items')) this.sizes.observe(box);
  }

  protected override updated(changed: PropertyValues<this>): void {
    // Where the browser tells of new sizes, it does so once it has laid out: asked for now, it would do that twice.
    if (!this.sizes || !changed.has('chat') || changed.get('chat')?.threadId !== this.chat?.threadId) this.follow();
    const { chat } = this;
    const said = chat ? this.speech.follow(chat.items, isRunning(chat)) : '';
    if (said) this.spoken = said;
  }

  private follow(): void {
    const log = this.querySelector('.transcript');
    if (!log) return;
    if (this.place) log.scrollTop = this.place.top;
    else if (this.follows) log.scrollTop = log.scrollHeight;
    this.top = log.scrollTop;
    this.scrolls = false;
  }

  protected override render(): TemplateResult {
    const { chat, state } = this;
    const items = chat?.items ?? [];
    const retries = isRunning(chat) ? undefined : answersOf(items);
    const from = Math.max(0, items.length - this.shown);
    const approvals = new Map(
      state.waiting.map(({ approval, postponed }) => [
        approval.toolCall.toolCallId,
        { approvalId: approval.approvalId, postponed },
      ]),
    );
    return html`<div class="transcript" role="log" aria-label=${t('Chat')} aria-live="off" tabindex="0" data-testid="transcript" @scroll=${this.onScroll} @wheel=${this.onOwnScroll} @pointerdown=${this.onOwnScroll} @keydown=${this.onOwnScroll} @touchstart=${this.onOwnScroll}><div class="transcript-items">
      ${from > 0 ? html`<button type="button" class="link earlier" @click=${() => (this.shown += PAGE)}>${t('Show earlier messages')}</button>` : nothing}
      ${repeat(
        items.slice(from),
        (item) => item.id,
        (item) => {
          const { approvalId, postponed = false } = (item.kind === 'call' && approvals.get(item.call.toolCallId)) || {};
          const why = item.kind === 'call' ? state.why[item.call.toolCallId] : undefined;
          const kept = item.kind === 'call' ? state.kept[item.call.toolCallId] : undefined;
          const undone =
            item.kind === 'call' &&
            item.result?.receiptId !== undefined &&
            state.undone.includes(item.result.receiptId);
          const builtin =
            item.kind === 'call' &&
            state.agents.some((agent) => agent.agentName === item.call.agentName && agent.type === 'builtin');
          const retry = retries?.get(item);
          return guard([item, approvalId, postponed, why, kept, undone, builtin, retry], () =>
            this.item(item, approvalId, postponed, undone, builtin, retry),
          );
        },
      )}
      ${items.length === 0 ? this.welcome() : nothing} ${state.sending || isRunning(chat) ? this.working(items) : nothing}
    </div></div><div class="sr" role="status" aria-live="polite" data-testid="spoken">${this.spoken}</div>${this.away ? html`<button type="button" class="secondary small jump" @click=${this.jump}>${icon('arrow-down')} ${t('Jump to latest')}</button>` : nothing}`;
  }

  private item(
    item: Item,
    approvalId: string | undefined,
    postponed: boolean,
    undone: boolean,
    builtin: boolean,
    retry: Prompt | undefined,
  ): TemplateResult {
    switch (item.kind) {
      case 'prompt':
        return html`<div class="message user" data-testid="message" data-role="user"><span class="sr">${t('You:')} </span><div class="bubble">${revealProse(item.text)}</div>${this.attachments(item.attachments)}${this.promptTools(item.text, item.attachments !== undefined)}</div>`;
      case 'text':
        return html`<div class="message agent markdown" data-testid="message" data-role="agent">${this.growingText(item)}<div class="message-tools">${this.copyButton(item.text)}${retry ? this.retryButton(retry) : nothing}</div></div>`;
      case 'thinking':
        return html`<details class="thinking" data-testid="message" data-role="thinking"><summary>${t('Thinking')}</summary><div class="markdown">${this.growingText(item)}</div></details>`;
      case 'call':
        return html`<cs-call class="item" .bridge=${this.bridge} .item=${item} .approvalId=${approvalId} .postponed=${postponed} .why=${this.state.why[item.call.toolCallId]} .kept=${this.state.kept[item.call.toolCallId]} .undone=${undone} .builtin=${builtin}></cs-call>`;
      case 'todo':
        return html`<ul class="todo" aria-label=${t('To do')}>${item.items.map((todo) => html`<li class=${todo.status}>${icon(todo.status === 'completed' ? 'pass-filled' : todo.status === 'in_progress' ? 'circle-large-filled' : 'circle-large')}<span class="sr">${todo.status === 'completed' ? t('done:') : todo.status === 'in_progress' ? t('now:') : t('to do:')} </span><span>${revealProse(todo.text)}</span></li>`)}</ul>`;
      case 'notice':
        return html`<div class="note ${item.level}" data-testid="message" data-role=${item.level}>${icon(item.level === 'error' ? 'error' : item.level)}<span>${serverText(item.message, revealProse)}</span></div>`;
      case 'question':
        return html`<div class="note info question-row" data-testid="question-row" data-state=${item.question.state}>${icon('comment-discussion')}<span>${t('{0} asked:', revealLine(item.question.agentName))} <q>${clipped(item.question.message, ASKED)}</q>${item.question.url ? html` <code>${clipped(item.question.url, ASKED)}</code>` : nothing}<span class="facts"> · ${questionWords(item.question.state)}</span></span></div>`;
      case 'compacted':
        return html`<details class="thinking compacted" data-testid="message" data-role="compacted"><summary>${item.dropped === 1 ? t('1 older message is summarized for the model') : t('{0} older messages are summarized for the model', item.dropped)}</summary><div class="markdown">${markdown(item.summary, this.actions)}</div></details>`;
      case 'end':
        return html`<div class="turn-end">${endWords(item.stopReason)}</div>`;
    }
  }

  /** Only the last item of a chat grows. */
  private growingText(item: Extract<Item, { text: string }>): unknown {
    if (item !== this.chat?.items.at(-1)) return markdown(item.text, this.actions);
    if (this.growing?.id !== item.id) this.growing = { id: item.id, text: new GrowingMarkdown() };
    return this.growing.text.draw(item.text, this.actions);
  }

  private copyButton(text: string): TemplateResult {
    return html`<button type="button" class="tool" aria-label=${t('Copy this message')} title=${t('Copy')} @click=${() => this.actions.copy(text)}>${icon('copy')}</button>`;
  }

  private attachments(places: readonly wire.AttachedPlace[] | undefined): TemplateResult | typeof nothing {
    if (places === undefined) return nothing;
    const { workspace, home } = this.state;
    return html`<ul class="chips" aria-label=${t('Attached')}>
      ${places.map(({ path = '', startLine, endLine, image }) => {
        const from = path === '' ? t('the selection') : image ? path : shortPath(path, workspace, home);
        const name = placeName({ path: from, startLine, endLine });
        return html`<li class="chip" data-testid="sent-attachment">${icon(image ? 'file-media' : startLine === undefined ? 'file' : 'selection')}<span class="chip-name" title=${revealLine(path)}>${revealLine(name)}</span></li>`;
      })}
    </ul>`;
  }

  private promptTools(text: string, attached: boolean): TemplateResult {
    const repeat = attached ? t('Repeat this prompt without its attachments') : t('Repeat this prompt');
    const change = attached ? t('Change this prompt, without its attachments') : t('Change this prompt');
    return html`<div class="message-tools">
      ${this.copyButton(text)}
      <button type="button" class="tool" aria-label=${change} title=${change} @click=${() => this.dispatchEvent(new CustomEvent('compose', { detail: text, bubbles: true }))}>${icon('edit')}</button>
      <button type="button" class="tool" aria-label=${repeat} title=${repeat} @click=${() => this.again(text)}>${icon('refresh')}</button>
    </div>`;
  }

  private retryButton({ text, attachments }: Prompt): TemplateResult {
    const words =
      attachments === undefined ? t('Try this answer again') : t('Try this answer again, without the attachments');
    return html`<button type="button" class="tool" aria-label=${words} title=${words} @click=${() => this.again(text)}>${icon('refresh')}</button>`;
  }

  /** The same prompt once more, at the end of the chat. */
  private again(text: string): void {
    if (this.chat && this.state.connection.state === 'running')
      this.bridge.post({ type: 'prompt', threadId: this.chat.threadId, text });
  }

  /** Unless a call that waits or runs says so itself. */
  private working(items: readonly Item[]): TemplateResult | typeof nothing {
    const turn = items.slice(items.findLastIndex((item) => item.kind === 'prompt') + 1);
    if (turn.some((item) => item.kind === 'call' && !item.result)) return nothing;
    if (turn.some((item) => item.kind === 'question' && item.question.state === 'waiting')) return nothing;
    return html`<div class="working">${icon('loading', 'codicon-modifier-spin')} ${t('Working')}</div>`;
  }

  private welcome(): TemplateResult {
    const comes = this.state.current !== undefined || (!this.state.loaded && this.state.connection.state === 'running');
    if (comes && !this.chat)
      return html`<div class="welcome">${icon('loading', 'codicon-modifier-spin')} ${t('Loading')}</div>`;
    return html`<div class="welcome">
      ${icon('shield')}
      <p class="welcome-title">${t('What shall an agent do?')}</p>
      <p>${t('It works in this folder. Whatever your rules do not allow comes to you first, on a card that shows exactly what will run.')}</p>
      ${this.suggestions()}
      ${this.state.trusted ? nothing : html`<p class="restricted">${icon('workspace-untrusted')} ${t('This folder is in Restricted Mode: its own settings cannot allow anything, and permissions cannot be bypassed.')}</p>`}
    </div>`;
  }

  /** Three prompts to begin with, in words that the agent at hand understands. */
  private suggestions(): TemplateResult | typeof nothing {
    const { agents, draft, modelOf } = this.state;
    const agent =
      agents.find(({ agentName }) => agentName === (this.chat?.agentName ?? draft.agentName)) ??
      agents.find((one) => one.default) ??
      agents[0];
    if (!agent) return nothing;
    const isDemo = agent.type === 'builtin' && (modelOf[agent.agentName] ?? 'demo') === 'demo';
    const { suggestions } = this.state;
    const readme = suggestions.find((one) => one.kind === 'readme');
    // What the demo model reads is its own small language, so it is not translated.
    const prompts = isDemo
      ? ['list .', readme ? `read ${readme.file}` : 'search for TODO', 'create hello.txt saying hi']
      : suggestions.map(suggestionWords);
    return html`<ul class="suggestions" aria-label=${t('Suggestions')}>
        ${prompts.map((prompt) => html`<li><button type="button" class="chip" @click=${() => this.dispatchEvent(new CustomEvent('compose', { detail: prompt, bubbles: true }))}>${revealLine(prompt)}</button></li>`)}
      </ul>
      ${isDemo ? html`<p class="facts" data-testid="demo">${t('The model demo works offline and understands a few plain requests only.')} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'openSettings' })}>${t('Choose a model')}</button> · <button type="button" class="link" @click=${() => this.bridge.post({ type: 'agentAdd' })}>${t('Add agent…')}</button></p>` : nothing}`;
  }

  private get actions(): Actions {
    return textActions(this.bridge);
  }

  private readonly onScroll = (event: Event): void => {
    const log = event.currentTarget as HTMLElement;
    if (this.place) return;
    // What was drawn since the view last followed may have moved the end away: only a person leaves it.
    const up = this.scrolls || log.scrollTop < this.top - 1;
    this.top = log.scrollTop;
    const near = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
    this.follows = near || (this.follows && !up);
    this.away = !this.follows;
    if (this.chat)
      this.bridge.keepScroll(this.chat.threadId, this.follows ? undefined : { top: log.scrollTop, shown: this.shown });
  };

  /** From here on the person scrolls. */
  private readonly onOwnScroll = (): void => {
    this.scrolls = true;
    this.place = undefined;
  };

  private readonly jump = (): void => {
    this.place = undefined;
    this.follows = true;
    if (this.chat) this.bridge.keepScroll(this.chat.threadId, undefined);
    this.away = false;
    this.follow();
    this.querySelector<HTMLElement>('.transcript')?.focus();
  };
}

type Prompt = Extract<Item, { kind: 'prompt' }>;

/** The last message of each turn that is over, with the prompt that it answers. */
function answersOf(items: readonly Item[]): Map<Item, Prompt> {
  const answers = new Map<Item, Prompt>();
  let prompt: Prompt | undefined;
  let answer: Item | undefined;
  for (const item of [...items, undefined]) {
    if (item?.kind === 'text') answer = item;
    if (item !== undefined && item.kind !== 'prompt') continue;
    if (prompt && answer) answers.set(answer, prompt);
    [prompt, answer] = [item, undefined];
  }
  return answers;
}

function suggestionWords(suggestion: Suggestion): string {
  switch (suggestion.kind) {
    case 'readme':
      return t('Compare {0} with what the code does', suggestion.file);
    case 'build':
      return t('Explain how this project is built');
    case 'tests':
      return t('Run the tests and say what fails');
    case 'changes':
      return t('Summarize what changed in the last commits');
    case 'todo':
      return t('Find TODO comments and sort them by effort');
    case 'overview':
      return t('Say what each file in this folder is for');
    case 'start':
      return t('Set up a small project here, with a test');
    case 'plan':
      return t('Ask me what I want to build, and write a plan');
    case 'newReadme':
      return t('Write a README for a project that I describe');
  }
}

function endWords(reason: string): string {
  const words: Record<string, string> = {
    cancelled: t('Stopped'),
    max_tokens: t('The answer was cut off at its length limit'),
    max_turn_requests: t('Stopped at the limit of steps for one turn'),
    refusal: t('The model refused'),
    error: t('Ended with an error'),
  };
  return words[reason] ?? reason;
}

customElements.define('cs-transcript', Transcript);
