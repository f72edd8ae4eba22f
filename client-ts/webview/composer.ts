/** Where a person writes: the text, and below it mode, agent, model and Send. Enter sends; approving is not done here. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { revealProse } from '../src/reveal.ts';
import type { Mode } from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { isRunning } from './chat.ts';
import { Drawn, icon } from './drawn.ts';
import { t } from './l10n.ts';
import './picker.ts';
import type { Choice } from './picker.ts';
import { currentChat, type State } from './state.ts';
import { labelWords, modeWords } from './words.ts';

const MOST_ROWS = 10;

export class Composer extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    state: { attribute: false },
    text: { state: true },
    withSelection: { state: true },
  };
  declare bridge: Bridge;
  declare state: State;
  declare private text: string;
  declare private withSelection: boolean;

  constructor() {
    super();
    this.text = '';
    this.withSelection = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!this.hasUpdated) this.text = this.bridge.draft;
    const { refused } = this.state;
    if (changed.has('state') && refused !== undefined) {
      // Put back what was not sent, unless something else was begun meanwhile.
      if (!this.text.trim()) this.text = refused;
      queueMicrotask(() => this.bridge.dispatch({ type: 'refusedTaken' }));
    }
  }

  protected override updated(): void {
    if (this.bridge.draft !== this.text) this.bridge.draft = this.text;
  }

  /** A text of the person's to be changed and sent, after what stands there already. */
  compose(text: string): void {
    this.text = this.text.trim() ? `${this.text}\n${text}` : text;
    this.focusText();
  }

  focusText(): void {
    this.querySelector('textarea')?.focus();
  }

  protected override render(): TemplateResult {
    const { state } = this;
    const chat = currentChat(state);
    const agentName = chat?.agentName ?? this.draftAgent();
    const agent = state.agents.find((one) => one.agentName === agentName);
    const running = state.sending || isRunning(chat);
    const rows = Math.min(MOST_ROWS, Math.max(2, this.text.split('\n').length));
    return html`<form class="composer" data-testid="composer" @submit=${this.onSubmit}>
      ${agent?.bypass ? html`<p class="bypassed">${icon('warning')} ${agent.bypassScope === 'session' ? t('{0} acts without asking until this window closes.', agent.agentName) : t('{0} acts without asking: permissions are bypassed.', agent.agentName)} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'bypassEnd', agentName: agent.agentName })}>${t('Turn off')}</button></p>` : nothing}
      ${
        agent?.state === 'failed' || agent?.state === 'exited'
          ? html`<p class="bypassed">${icon('error')} ${agent.detail || t('{0} is not running.', agent.agentName)} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'agentRestart', agentName: agent.agentName })}>${t('Restart')}</button></p>`
          : nothing
      }
      ${
        agent?.fallen
          ? html`<p class="bypassed">${icon('warning')} ${agent.detail} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'labelReset', agentName: agent.agentName })}>${t('Forget…')}</button></p>`
          : nothing
      }
      ${this.queue()}
      <div class="composer-box">
        <textarea
          aria-label=${t('Message')}
          placeholder=${t('Ask {0}', agentName ?? 'Countersign')}
          rows=${rows}
          .value=${this.text}
          @input=${(event: Event) => (this.text = (event.target as HTMLTextAreaElement).value)}
          @keydown=${this.onKey}
        ></textarea>
        <div class="composer-bar">
          <cs-picker class="mode-picker" .label=${t('Mode')} .value=${chat?.mode ?? state.draft.mode} .choices=${modeChoices()} @picked=${this.onMode}></cs-picker>
          <cs-picker class="agent-picker" .label=${t('Agent')} .value=${agentName ?? ''} .empty=${t('Agent')} .choices=${this.agentChoices(chat?.agentName)} @picked=${this.onAgent}></cs-picker>
          ${
            agent?.type === 'builtin' && state.models.length > 0
              ? html`<cs-picker class="model-picker" .label=${t('Model')} .value=${state.modelOf[agent.agentName] ?? ''} .empty=${t('Model')} .choices=${state.models.map((name) => ({ value: name, name }))} @picked=${({ detail }: CustomEvent<string>) => this.bridge.post({ type: 'setModel', agentName: agent.agentName, model: detail })}></cs-picker>`
              : nothing
          }
          <span class="spring"></span>
          ${this.tokens()}
          ${this.figures()}
          <button type="button" class="tool" aria-label=${t('Attach the selection or open file')} title=${t('Attach the selection or open file')} aria-pressed=${this.withSelection ? 'true' : 'false'} @click=${() => (this.withSelection = !this.withSelection)}>${icon('attach')}</button>
          ${running ? html`<button type="button" class="tool stop" aria-label=${t('Stop')} title=${t('Stop')} @click=${this.stop}>${icon('debug-stop')}</button>` : nothing}
          <button type="submit" class="tool send" aria-label=${t('Send')} title=${t('Send (Enter)')} ?disabled=${!this.text.trim() || state.connection.state !== 'running'}>${icon('send')}</button>
        </div>
      </div>
    </form>`;
  }

  /** What the last answer took, where the provider tells. */
  private tokens(): TemplateResult | typeof nothing {
    const usage = currentChat(this.state)?.usage;
    const { inputTokens, outputTokens } = usage ?? {};
    if (inputTokens === undefined && outputTokens === undefined) return nothing;
    const short = (count: number): string => (count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`);
    const words = t('{0} tokens read, {1} written in the last answer', inputTokens ?? '?', outputTokens ?? '?');
    return html`<span class="tokens" title=${words}><span aria-hidden="true">${short((inputTokens ?? 0) + (outputTokens ?? 0))}</span><span class="sr">${words}</span></span>`;
  }

  /** How full the model's context is, and what the chat has cost. */
  private figures(): TemplateResult | typeof nothing {
    const chat = currentChat(this.state);
    const { contextUsed, contextTokens } = chat?.usage ?? {};
    const full = contextUsed !== undefined && contextTokens ? Math.min(1, contextUsed / contextTokens) : undefined;
    const cost = chat?.cost ? `$${chat.cost.toFixed(chat.cost < 0.1 ? 3 : 2)}` : '';
    if (full === undefined && cost === '') return nothing;
    const percent = full === undefined ? '' : `${Math.round(full * 100)} %`;
    const words = [
      full === undefined
        ? ''
        : t('{0} of {1} tokens of the context are used', count(contextUsed ?? 0), count(contextTokens ?? 0)),
      cost === '' ? '' : t('this chat cost about {0}', cost),
    ];
    const title = words.filter(Boolean).join(' · ');
    return html`<span class="figures" role="img" data-testid="figures" aria-label=${title} title=${title}>${[percent, cost].filter(Boolean).join(' · ')}</span>`;
  }

  /** Prompts that wait for the end of the turn. */
  private queue(): TemplateResult | typeof nothing {
    const { current, queued, connection } = this.state;
    const prompts = (current !== undefined && queued[current]) || [];
    if (current === undefined || prompts.length === 0) return nothing;
    const stopped = connection.state !== 'running';
    return html`<ul class="queued" aria-label=${t('Queued messages')} data-testid="queued">
      ${prompts.map(
        ({ id, text }) =>
          html`<li>
            ${icon('clock')}<span class="queued-text" title=${revealProse(text)}>${revealProse(text)}</span>
            <button type="button" class="tool" aria-label=${t('Change the queued message')} title=${t('Edit')} @click=${() => this.editQueued(current, id, text)}>${icon('edit')}</button>
            <button type="button" class="tool" aria-label=${t('Remove the queued message')} title=${t('Remove')} @click=${() => this.bridge.post({ type: 'queueRemove', threadId: current, id })}>${icon('close')}</button>
            <button type="button" class="tool" aria-label=${t('Start the queued message now')} title=${t('Send now; stops what the agent does')} ?disabled=${stopped} @click=${() => this.bridge.post({ type: 'queueSend', threadId: current, id })}>${icon('arrow-up')}</button>
          </li>`,
      )}
    </ul>`;
  }

  /** Back into the text box, after what stands there already. */
  private editQueued(threadId: string, id: string, text: string): void {
    this.bridge.post({ type: 'queueRemove', threadId, id });
    this.compose(text);
  }

  /** Stops the turn of the chat on the screen. */
  readonly stop = (): void => {
    const chat = currentChat(this.state);
    if (chat) this.bridge.post({ type: 'stop', threadId: chat.threadId });
  };

  readonly chooseMode = (mode: Mode): void => {
    const { current } = this.state;
    this.bridge.post({ type: 'setMode', mode, ...(current !== undefined && { threadId: current }) });
  };

  private draftAgent(): string | undefined {
    const { draft, agents } = this.state;
    return draft.agentName ?? agents.find((agent) => agent.default)?.agentName ?? agents[0]?.agentName;
  }

  /** A chat keeps its agent: another one means another chat. */
  private agentChoices(fixed: string | undefined): Choice[] {
    return this.state.agents.map((agent) => ({
      value: agent.agentName,
      name: agent.agentName,
      dot: `agent-${agent.label}`,
      explanation: [
        agent.bypass ? t('permissions bypassed') : labelWords(agent.label),
        fixed !== undefined && agent.agentName !== fixed ? t('opens a new chat') : '',
      ]
        .filter(Boolean)
        .join(' · '),
    }));
  }

  private readonly onMode = ({ detail }: CustomEvent<string>): void => this.chooseMode(detail as Mode);

  private readonly onAgent = ({ detail }: CustomEvent<string>): void => {
    const chat = currentChat(this.state);
    if (chat?.agentName === detail) return;
    this.bridge.dispatch({ type: 'draftAgent', agentName: detail });
    if (chat) this.bridge.dispatch({ type: 'openChat' });
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
      return;
    event.preventDefault();
    this.send();
  };

  private readonly onSubmit = (event: Event): void => {
    event.preventDefault();
    this.send();
  };

  private send(): void {
    const text = this.text.trim();
    const { state } = this;
    if (!text || state.sending || state.connection.state !== 'running') return;
    this.bridge.dispatch({ type: 'sending' });
    const attached = this.withSelection ? { withSelection: true } : {};
    if (state.current !== undefined) this.bridge.post({ type: 'prompt', threadId: state.current, text, ...attached });
    else {
      const agentName = this.draftAgent();
      this.bridge.post({
        type: 'prompt',
        text,
        mode: state.draft.mode,
        ...(agentName !== undefined && { agentName }),
        ...attached,
      });
    }
    this.text = '';
    this.withSelection = false;
  }
}

function count(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}

function modeChoices(): Choice[] {
  return modeWords().map(({ mode, name, explanation, more }) => ({
    value: mode,
    name,
    explanation,
    more,
    dot: `mode-${mode}`,
  }));
}

customElements.define('cs-composer', Composer);
