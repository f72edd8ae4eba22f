/** All chats of this workspace, over all agents: what each does, and naming, finding, exporting and deleting them. */
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { listsSessions } from '../src/agentSessions.ts';
import type * as wire from '../src/wire.gen.ts';
import { revealLine } from '../src/reveal.ts';
import type { Bridge } from './bridge.ts';
import { Drawn, icon, revealed } from './drawn.ts';
import { t } from './l10n.ts';
import type { State } from './state.ts';
import { timeWords } from './words.ts';

export class Chats extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    state: { attribute: false },
    text: { state: true },
    renamed: { state: true },
  };
  declare bridge: Bridge;
  declare state: State;
  declare private text: string;
  /** The chat whose title is being changed, and the title so far. */
  declare private renamed: { threadId: string; title: string } | undefined;

  constructor() {
    super();
    this.text = '';
  }

  protected override render(): TemplateResult {
    const { threads, found } = this.state;
    const excerpts = found && new Map(found.map(({ threadId, excerpt }) => [threadId, excerpt]));
    const shown = excerpts ? threads.filter(({ threadId }) => excerpts.has(threadId)) : threads;
    return html`<section class="page" aria-label=${t('Chats')}>
      <form class="page-tools" role="search" @submit=${this.search}>
        <input type="search" aria-label=${t('Search the chats')} placeholder=${t('Search titles, messages and answers')} .value=${this.text} @input=${this.onInput} />
        <button type="submit" class="tool" aria-label=${t('Search')} title=${t('Search')}>${icon('search')}</button>
        ${this.state.agents.some(listsSessions) ? html`<button type="button" class="tool" aria-label=${t('Open a session of an agent…')} title=${t('Open a session of an agent…')} @click=${() => this.bridge.post({ type: 'agentSessions' })}>${icon('history')}</button>` : nothing}
      </form>
      <div class="page-scroll" tabindex="0">
        ${repeat(
          shown,
          ({ threadId }) => threadId,
          (thread) => this.row(thread, excerpts?.get(thread.threadId)),
        )}
        ${shown.length === 0 ? html`<p class="empty">${excerpts ? t('Nothing was found.') : t('There is no chat yet.')}</p>` : nothing}
      </div>
    </section>`;
  }

  private row(thread: wire.ThreadSummary, excerpt: string | undefined): TemplateResult {
    const { threadId } = thread;
    const title = thread.title || t('New chat');
    const [name, words] = stateLook(thread);
    if (this.renamed?.threadId === threadId)
      return html`<form class="chat-row" @submit=${this.rename}>
        <input class="chat-title" type="text" maxlength="200" aria-label=${t('Title of the chat')} .value=${this.renamed.title} @input=${(event: Event) => (this.renamed = { threadId, title: (event.target as HTMLInputElement).value })} @keydown=${this.onRenameKey} />
        <button type="submit" class="tool" aria-label=${t('Rename')} title=${t('Rename')}>${icon('check')}</button>
        <button type="button" class="tool" aria-label=${t('Cancel')} title=${t('Cancel')} @click=${() => (this.renamed = undefined)}>${icon('close')}</button>
      </form>`;
    return html`<div class="chat-row" data-testid="chat-row" data-thread-id=${threadId} data-state=${thread.state ?? nothing}>
      <button type="button" class="chat-open" aria-current=${threadId === this.state.current ? 'true' : nothing} @click=${() => this.open(threadId)}>
        ${icon(name)}<span class="sr">${words}: </span>
        <span class="chat-words"><span class="call-title">${revealLine(title)}</span><span class="facts">${revealed(thread.agentName)} · ${words} · ${timeWords(thread.updatedAt)}</span>${excerpt ? html`<span class="facts excerpt">${revealLine(excerpt)}</span>` : nothing}</span>
      </button>
      <button type="button" class="tool" aria-label=${t('Rename {0}', title)} title=${t('Rename')} @click=${() => this.startRenaming(threadId, title)}>${icon('edit')}</button>
      ${this.mayFork(thread) ? html`<button type="button" class="tool" aria-label=${t('Fork {0}', title)} title=${t('Fork: a second chat that goes on from here')} @click=${() => this.bridge.post({ type: 'forkThread', threadId })}>${icon('repo-forked')}</button>` : nothing}
      <button type="button" class="tool" aria-label=${t('Export {0}', title)} title=${t('Export as Markdown')} @click=${() => this.bridge.post({ type: 'exportThread', threadId })}>${icon('export')}</button>
      <button type="button" class="tool" aria-label=${t('Delete {0}', title)} title=${t('Delete')} @click=${() => this.bridge.post({ type: 'deleteThread', threadId })}>${icon('trash')}</button>
    </div>`;
  }

  /** An agent tells when it is started whether it forks; of one that was never started nothing is offered. */
  private mayFork({ agentName, state }: wire.ThreadSummary): boolean {
    const agent = this.state.agents.find((one) => one.agentName === agentName);
    return agent?.type === 'acp' && agent.forks === true && state !== 'new' && state !== undefined;
  }

  private open(threadId: string): void {
    this.bridge.dispatch({ type: 'openChat', threadId });
    this.bridge.post({ type: 'openThread', threadId });
  }

  private async startRenaming(threadId: string, title: string): Promise<void> {
    this.renamed = { threadId, title };
    await this.updateComplete;
    this.querySelector<HTMLInputElement>('.chat-title')?.select();
  }

  private readonly rename = (event: Event): void => {
    event.preventDefault();
    const { renamed } = this;
    this.renamed = undefined;
    if (renamed?.title.trim())
      this.bridge.post({ type: 'renameThread', threadId: renamed.threadId, title: renamed.title.trim() });
  };

  private readonly onRenameKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    this.renamed = undefined;
  };

  private readonly onInput = (event: Event): void => {
    this.text = (event.target as HTMLInputElement).value;
    // An emptied field shows all of them again.
    if (!this.text.trim()) this.bridge.dispatch({ type: 'chatsFound' });
  };

  private readonly search = (event: Event): void => {
    event.preventDefault();
    if (this.text.trim()) this.bridge.post({ type: 'searchThreads', text: this.text.trim() });
  };
}

/** Icon and words for what a chat does. */
function stateLook({ state, waiting }: wire.ThreadSummary): [string, string] {
  switch (state) {
    case 'waiting':
      return ['bell-dot', waiting > 1 ? t('{0} wait for you', waiting) : t('waits for you')];
    case 'working':
      return ['loading', t('working')];
    case 'failed':
      return ['error', t('failed')];
    case 'stopped':
      return ['debug-stop', t('stopped')];
    case 'done':
      return ['pass', t('done')];
    default:
      return ['comment', t('new')];
  }
}

customElements.define('cs-chats', Chats);
