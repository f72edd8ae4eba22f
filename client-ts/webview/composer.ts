/** Where a person writes: the text, and below it mode, agent, model and Send. Enter sends; approving is not done here. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';

import type { Completion, OpenPlace } from '../src/messages.ts';
import { revealLine, revealProse } from '../src/reveal.ts';
import type { AgentCommand, AgentView, Mode, ThreadOption } from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { isRunning } from './chat.ts';
import { Drawn, icon, serverText } from './drawn.ts';
import { foreignUrl } from './foreignUrl.ts';
import { hintOf, matching, slashText } from './slashCommands.ts';
import { readImages } from './images.ts';
import { fromServer, t } from './l10n.ts';
import './picker.ts';
import type { Choice } from './picker.ts';
import { currentChat, type State } from './state.ts';
import { Recall } from './recall.ts';
import { labelWords, modeWords, placeName, shortPath } from './words.ts';

/** The option of a chat of the built-in agent. */
const MODEL = 'model';
const MOST_ROWS = 10;
/** Stands among the agents to choose from; no agent has a slash in its name. */
const ADD_AGENT = '/add';

export class Composer extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    state: { attribute: false },
    text: { state: true },
    mention: { state: true },
    slash: { state: true },
    picked: { state: true },
    unwanted: { state: true },
  };
  declare bridge: Bridge;
  declare state: State;
  declare private text: string;
  /** The text after the @ before the cursor; undefined while none is being written, or its list was closed. */
  declare private mention: string | undefined;
  /** What stands between a slash at the beginning and the cursor; undefined as with `mention`. */
  declare private slash: string | undefined;
  /** Which of the completions Enter takes. */
  declare private picked: number;

  /** The file that the person did not want to be offered. */
  declare private unwanted: string | undefined;

  private readonly recall = new Recall();

  constructor() {
    super();
    this.text = '';
    this.closeLists();
    this.slash = undefined;
    this.picked = 0;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!this.hasUpdated) this.text = this.bridge.draft;
    const { refused, outdated } = this.state;
    if (changed.has('state') && refused !== undefined) {
      // Put back what was not sent, unless something else was begun meanwhile.
      if (!this.text.trim() || this.text === outdated) this.text = refused;
      queueMicrotask(() => this.bridge.dispatch({ type: 'refusedTaken' }));
    }
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (this.bridge.draft !== this.text) this.bridge.draft = this.text;
    const before = changed.get('state');
    // What was asked for while everything started may have found nothing.
    if (before && !before.loaded && this.state.loaded && this.mention !== undefined && this.found.length === 0)
      this.bridge.post({ type: 'complete', text: this.mention });
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
          ? html`<p class="bypassed">${icon('error')} ${agent.detail ? serverText(agent.detail, plain) : t('{0} is not running.', agent.agentName)} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'agentRestart', agentName: agent.agentName })}>${t('Restart')}</button></p>`
          : nothing
      }
      ${
        agent?.state === 'needsLogin'
          ? html`<p class="bypassed" data-testid="needs-login">${icon('key')} ${serverText(agent.detail ?? '', plain)} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'agentLogin', agentName: agent.agentName, ...(chat && { threadId: chat.threadId }) })}>${agent.login?.length && agent.login.every((method) => method.keys) ? t('Set Key…') : t('Log in…')}</button></p>${this.loginLinks(agent)}`
          : nothing
      }
      ${
        agent?.fallen
          ? html`<p class="bypassed">${icon('warning')} ${serverText(agent.detail ?? '', plain)} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'labelReset', agentName: agent.agentName })}>${t('Forget…')}</button></p>`
          : nothing
      }
      ${agent && !chat && !agent.fallen && agent.type === 'acp' && agent.label !== 'gated' && agent.state !== 'failed' && agent.state !== 'needsLogin' ? html`<p class="agent-detail">${agent.agentName}: ${labelWords(agent.label)}. ${serverText(agent.detail ?? '', plain)} <button type="button" class="link" @click=${() => this.bridge.post({ type: 'agentProbe', agentName: agent.agentName })}>${t('Probe…')}</button></p>` : nothing}
      ${agent?.servers !== undefined && !chat ? html`<p class="agent-detail" data-testid="own-servers">${agent.agentName}: ${serverText(agent.servers, revealLine)}</p>` : nothing}
      ${this.queue()}
      <div class="composer-box" @dragover=${this.onDragOver} @drop=${this.onDrop}>
        ${this.chips()} ${this.completions()}
        <textarea
          aria-label=${t('Message')}
          placeholder=${t('Ask {0}', agentName ?? 'Countersign')}
          rows=${rows}
          .value=${this.text}
          aria-autocomplete="list"
          aria-controls="completions"
          aria-activedescendant=${this.found.length + this.offeredCommands.length > 0 ? `completion-${this.picked}` : nothing}
          @input=${this.onInput}
          @focus=${this.onFocus}
          @blur=${this.closeLists}
          @keydown=${this.onKey}
          @paste=${this.onPaste}
        ></textarea>
        ${this.hint()}
        ${this.options()}
        <div class="composer-bar ${this.hasModel() ? 'with-model' : ''}">
          <cs-picker class="mode-picker" .label=${t('Mode')} .value=${chat?.mode ?? state.draft.mode} .choices=${modeChoices()} @picked=${this.onMode}></cs-picker>
          <cs-picker class="agent-picker" .label=${t('Agent')} .value=${agentName ?? ''} .empty=${t('Agent')} .choices=${this.agentChoices(chat?.agentName)} @picked=${this.onAgent}></cs-picker>
          ${agent?.type === 'builtin' ? this.model(agent.agentName) : nothing}
          <span class="spring"></span>
          <span class="counts">${this.tokens()} ${this.figures()}</span>
          <button type="button" class="tool" aria-label=${t('Attach the selection or open file')} title=${t('Attach the selection or open file')} @click=${() => this.bridge.post({ type: 'attachSelection' })}>${icon('attach')}</button>
          ${running ? html`<button type="button" class="tool stop" aria-label=${t('Stop')} title=${t('Stop')} @click=${this.stop}>${icon('debug-stop')}</button>` : nothing}
          <button type="submit" class="tool send" aria-label=${t('Send')} title=${t('Send (Enter)')} ?disabled=${!this.text.trim() || state.connection.state !== 'running'}>${icon('send')}</button>
        </div>
      </div>
    </form>`;
  }

  private hasModel(): boolean {
    const chosen = currentChat(this.state)?.options.some(({ optionId }) => optionId === MODEL);
    const agentName = this.agentName();
    return this.isBuiltin(agentName) && (chosen === true || this.canChoose(agentName ?? ''));
  }

  /** Whether the settings hold another model than that of the agent; the server offers none otherwise, either. */
  private canChoose(agentName: string): boolean {
    return this.state.models.some((name) => name !== this.modelOf(agentName));
  }

  private modelOf(agentName: string): string {
    return this.state.modelOf[agentName] ?? 'demo';
  }

  /** The model of the built-in agent: that of this chat, before there is one that of the settings. */
  private model(agentName: string): TemplateResult | typeof nothing {
    const { models } = this.state;
    const chat = currentChat(this.state);
    const option = chat?.options.find(({ optionId }) => optionId === MODEL);
    if (chat && option) {
      const { threadId } = chat;
      const set = ({ detail }: CustomEvent<string>): void => {
        if (detail !== option.value) this.bridge.post({ type: 'setOption', threadId, option: MODEL, value: detail });
      };
      return html`<cs-picker class="model-picker" .label=${t('Model')} .value=${String(option.value)} .empty=${revealLine(String(option.value))} .choices=${choicesOf(option)} @picked=${set}></cs-picker>`;
    }
    if (!this.canChoose(agentName)) return nothing;
    const set = ({ detail }: CustomEvent<string>): void =>
      this.bridge.post({ type: 'setModel', agentName, model: detail });
    return html`<cs-picker class="model-picker" .label=${t('Model')} .value=${this.modelOf(agentName)} .empty=${revealLine(this.modelOf(agentName))} .choices=${models.map((name) => ({ value: name, name: revealLine(name) }))} @picked=${set}></cs-picker>`;
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
        ({ id, text, attached, lost }) =>
          html`<li>
            ${icon('clock')}<span class="queued-text" title=${revealProse(text)}>${revealProse(text)}</span>
            ${attached === undefined ? nothing : html`<span class="queued-note">${lost ? t('Attachments lost with the window: {0}', attached) : t('Attachments: {0}', attached)}</span>`}
            ${attached === undefined ? html`<button type="button" class="tool" aria-label=${t('Change the queued message')} title=${t('Edit')} @click=${() => this.editQueued(current, id, text)}>${icon('edit')}</button>` : nothing}
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
    const agents = this.state.agents.map((agent) => ({
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
    return [...agents, { value: ADD_AGENT, name: t('Add agent…'), explanation: t('looks for installed agents') }];
  }

  private readonly onMode = ({ detail }: CustomEvent<string>): void => this.chooseMode(detail as Mode);

  private readonly onAgent = ({ detail }: CustomEvent<string>): void => {
    if (detail === ADD_AGENT) return this.bridge.post({ type: 'agentAdd' });
    const chat = currentChat(this.state);
    if (chat?.agentName === detail) return;
    this.bridge.dispatch({ type: 'draftAgent', agentName: detail });
    if (chat) this.bridge.dispatch({ type: 'openChat' });
  };

  /** What goes along, each to be taken away again. */
  private chips(): TemplateResult | typeof nothing {
    const { attached } = this.state;
    const offered = this.offeredPlace();
    if (attached.length === 0 && !offered) return nothing;
    return html`<ul class="chips" aria-label=${attached.length === 0 ? t('To attach') : t('Attached')}>
      ${attached.map((one) => {
        const name = placeName(one);
        return html`<li class="chip" data-testid="chip">${icon(one.image ? 'file-media' : one.startLine === undefined ? 'file' : 'selection')}<span class="chip-name" title=${revealLine(one.path)}>${revealLine(name)}</span><button type="button" class="tool" aria-label=${t('Remove {0}', name)} title=${t('Remove')} @click=${() => this.detach(one.id)}>${icon('close')}</button></li>`;
      })}
      ${offered ? this.offer(offered) : nothing}
    </ul>`;
  }

  /** The open file, unless it goes along already or the person did not want it. */
  private offeredPlace(): OpenPlace | undefined {
    const { openPlace, attached } = this.state;
    if (!openPlace || openPlace.path === this.unwanted) return undefined;
    const name = placeName(openPlace);
    return attached.some((one) => !one.image && placeName(one) === name) ? undefined : openPlace;
  }

  /** It goes along only once it was pressed. */
  private offer(place: OpenPlace): TemplateResult {
    const name = placeName(place);
    return html`<li class="chip offered" data-testid="offered"><button type="button" class="offer" aria-label=${t('Attach {0}', name)} title=${t('Attach {0}', name)} @click=${() => this.bridge.post({ type: 'attachSelection' })}>${icon('add')}<span class="offer-name">${revealLine(name)}</span></button><button type="button" class="tool" aria-label=${t('Do not offer {0}', name)} title=${t('Do not offer this file')} @click=${() => (this.unwanted = place.path)}>${icon('close')}</button></li>`;
  }

  private detach(id: string): void {
    this.bridge.dispatch({ type: 'detached', id });
    this.bridge.post({ type: 'detach', id });
  }

  /** Images for an agent that takes them; to another they are not attached at all. */
  private async attachImages(files: readonly File[]): Promise<void> {
    const refuse = (message: string): void => this.bridge.dispatch({ type: 'notice', level: 'warning', message });
    if (this.takesNoImages()) return refuse(this.noImages());
    await readImages(files, (image) => this.bridge.post({ type: 'attachImage', ...image }), refuse);
  }

  private agentName(): string | undefined {
    return currentChat(this.state)?.agentName ?? this.draftAgent();
  }

  /** Where only the next prompt will tell, it may. */
  private takesNoImages(): boolean {
    const agentName = this.agentName();
    // What is known of the built-in agent is of the model in its settings.
    const own =
      this.isBuiltin(agentName) && currentChat(this.state)?.options.find(({ optionId }) => optionId === MODEL);
    if (own && own.value !== this.modelOf(agentName ?? '')) return false;
    return this.state.agents.some((agent) => agent.agentName === agentName && agent.images === false);
  }

  private isBuiltin(name: string | undefined): boolean {
    return this.state.agents.some(({ agentName, type }) => agentName === name && type === 'builtin');
  }

  private noImages(): string {
    return t('{0} takes no images. Choose another agent or model.', this.agentName() ?? '');
  }

  /** What the agent of this chat lets a person choose, in its words. */
  private options(): TemplateResult | typeof nothing {
    const chat = currentChat(this.state);
    const builtin = this.isBuiltin(chat?.agentName);
    const options = chat?.options.filter(({ optionId }) => !builtin || optionId !== MODEL) ?? [];
    if (!chat || options.length === 0) return this.optionsToCome();
    const set = (option: ThreadOption, value: string | boolean): void =>
      this.bridge.post({ type: 'setOption', threadId: chat.threadId, option: option.optionId, value });
    const label = (option: ThreadOption): string => t('{0} ({1})', revealLine(option.name), chat.agentName);
    return html`<div class="agent-options" role="group" aria-label=${t('Options of {0}', chat.agentName)} data-testid="agent-options">
      ${options.map((option) =>
        option.type === 'boolean'
          ? html`<button type="button" class="picker-button" role="switch" aria-label=${label(option)} aria-checked=${option.value ? 'true' : 'false'} aria-disabled=${option.refused === undefined ? nothing : 'true'} title=${option.refused === undefined ? revealLine(option.description ?? option.name) : revealLine(fromServer(option.refused))} @click=${() => option.refused === undefined && set(option, !option.value)}>${icon(option.value ? 'check' : 'circle-slash')}<span class="picker-value">${revealLine(option.name)}</span></button>`
          : html`<cs-picker .label=${label(option)} .value=${String(option.value)} .empty=${revealLine(`${option.name}: ${String(option.value)}`)} .choices=${choicesOf(option)} @picked=${({ detail }: CustomEvent<string>) => detail !== option.value && set(option, detail)}></cs-picker>`,
      )}
    </div>`;
  }

  /** Where a person gets what a login takes: the agent's addresses, whole, each opened only by its own button. */
  private loginLinks({ agentName, login = [] }: AgentView): TemplateResult[] {
    return login.flatMap(({ methodId, name, link }) =>
      link === undefined
        ? []
        : [
            html`<div class="login-link" data-testid="login-link">
              <p class="facts">${t('{0} names a page for “{1}”, on the host {2}:', revealLine(agentName), revealLine(name), link.host)}</p>
              ${foreignUrl(link.url, link.notes)}
              <button type="button" class="link" @click=${() => this.bridge.post({ type: 'loginLink', agentName, methodId })}>${t('Open in the browser')}</button>
            </div>`,
          ],
    );
  }

  /** Before the first message a hosted agent has no session yet: it opens one when its options are asked for. */
  private optionsToCome(): TemplateResult | typeof nothing {
    const { state } = this;
    const chat = currentChat(state);
    const agentName = this.agentName();
    const agent = state.agents.find((one) => one.agentName === agentName);
    const began = chat !== undefined && chat.items.length > 0;
    if (agent?.type !== 'acp' || began || !state.trusted || state.sending || state.connection.state !== 'running')
      return nothing;
    if (agent.state === 'failed' || agent.state === 'needsLogin') return nothing;
    const of = chat ? { threadId: chat.threadId } : { agentName: agent.agentName, mode: state.draft.mode };
    return html`<div class="agent-begin"><button type="button" class="link" data-testid="begin" ?disabled=${agent.state === 'starting'} @click=${() => this.bridge.post({ type: 'beginThread', ...of })}>${t('Options of {0}…', agent.agentName)}</button></div>`;
  }

  /** Commands of the agent that begin with what is written after the slash. */
  private get offeredCommands(): readonly AgentCommand[] {
    return this.slash === undefined ? [] : matching(currentChat(this.state)?.commands ?? [], this.slash);
  }

  /** What may follow the command that is written. */
  private hint(): TemplateResult | typeof nothing {
    const hint = hintOf(currentChat(this.state)?.commands ?? [], this.text);
    return hint === undefined
      ? nothing
      : html`<p class="command-hint" data-testid="command-hint">${revealLine(hint)}</p>`;
  }

  private readonly closeLists = (): void => {
    this.mention = undefined;
    this.slash = undefined;
  };

  private takeCommand(event: Event, { name }: AgentCommand): void {
    event.preventDefault();
    const box = this.querySelector('textarea')!;
    const before = `/${name} `;
    this.text = before + box.value.slice(box.selectionStart).trimStart();
    box.value = this.text;
    box.setSelectionRange(before.length, before.length);
    this.slash = undefined;
  }

  /** What was found for the mention that stands before the cursor. */
  private get found(): readonly Completion[] {
    const { completions } = this.state;
    return this.mention !== undefined && completions?.text === this.mention ? completions.found : [];
  }

  private completions(): TemplateResult {
    const { found, offeredCommands } = this;
    if (offeredCommands.length > 0)
      return html`<ul id="completions" class="completions" role="listbox" aria-label=${t('Commands of {0}', this.agentName() ?? '')}>
        ${offeredCommands.map(
          (one, index) =>
            html`<li id="completion-${index}" role="option" aria-selected=${index === this.picked ? 'true' : 'false'} @pointerdown=${(event: Event) => this.takeCommand(event, one)}>${icon('terminal')}<span>/${revealLine(one.name)}</span><span class="facts">${revealLine([one.hint, one.description].filter(Boolean).join(' · '))}</span></li>`,
        )}
      </ul>`;
    return html`<ul id="completions" class="completions" role="listbox" aria-label=${t('Files and symbols')} ?hidden=${found.length === 0}>
      ${found.map(
        (one, index) =>
          html`<li id="completion-${index}" role="option" aria-selected=${index === this.picked ? 'true' : 'false'} @pointerdown=${(event: Event) => this.take(event, one)}>${icon(one.line === undefined ? 'file' : 'symbol-method')}<span>${revealLine(one.name)}</span><span class="facts">${revealLine(placeName({ path: shortPath(one.path, this.state.workspace, this.state.home), startLine: one.line }))}</span></li>`,
      )}
    </ul>`;
  }

  private take(event: Event, { path, line, name }: Completion): void {
    event.preventDefault();
    const box = this.querySelector('textarea')!;
    const before = box.value.slice(0, box.selectionStart).replace(MENTION, `$1@${name} `);
    this.text = before + box.value.slice(box.selectionStart);
    box.value = this.text;
    box.setSelectionRange(before.length, before.length);
    this.mention = undefined;
    this.bridge.post({ type: 'attachFile', path, ...(line !== undefined && { line }) });
  }

  private readonly onInput = (event: Event): void => {
    const box = event.target as HTMLTextAreaElement;
    this.text = box.value;
    this.recall.leave();
    this.openLists(box);
  };

  /** Who comes back to a mention that was begun is offered the files again. */
  private readonly onFocus = (event: Event): void => this.openLists(event.target as HTMLTextAreaElement);

  private openLists(box: HTMLTextAreaElement): void {
    const mention = MENTION.exec(box.value.slice(0, box.selectionStart))?.[2];
    if (mention !== undefined && mention !== this.mention) this.bridge.post({ type: 'complete', text: mention });
    this.mention = mention;
    this.slash = slashText(box.value, box.selectionStart);
    this.picked = 0;
  }

  private readonly onDragOver = (event: DragEvent): void => {
    if (event.dataTransfer?.types.some((type) => type === 'Files' || URI_LISTS.includes(type))) event.preventDefault();
  };

  private readonly onDrop = (event: DragEvent): void => {
    const paths = URI_LISTS.flatMap((type) => pathsOf(event.dataTransfer?.getData(type) ?? ''));
    const files = [...(event.dataTransfer?.files ?? [])];
    if (paths.length + files.length === 0) return;
    event.preventDefault();
    if (paths.length === 0) void this.attachImages(files);
    for (const path of new Set(paths)) this.bridge.post({ type: 'attachFile', path });
  };

  /** A picture that was copied with its text, such as cells of a table, is pasted as that text. */
  private readonly onPaste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0 || event.clipboardData?.getData('text/plain')) return;
    event.preventDefault();
    void this.attachImages(files);
  };

  /** In the list of completions; true if the key was for it. */
  private completes(event: KeyboardEvent): boolean {
    const { found, offeredCommands } = this;
    const listed = found.length + offeredCommands.length;
    if (listed === 0 || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) this.picked = (this.picked + by + listed) % listed;
    else if (event.key === 'Escape') this.closeLists();
    else if (event.key === 'Enter' && this.slash !== undefined && offeredCommands[this.picked]?.name === this.slash)
      return false;
    else if ((event.key === 'Enter' || event.key === 'Tab') && offeredCommands[this.picked])
      this.takeCommand(event, offeredCommands[this.picked]!);
    else if (event.key === 'Enter' || event.key === 'Tab') this.take(event, found[this.picked]!);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Arrow up in the first line and arrow down in the last go through what was written before. */
  private recalls(event: KeyboardEvent): boolean {
    if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
    const box = event.target as HTMLTextAreaElement;
    const [before, after] = [box.value.slice(0, box.selectionStart), box.value.slice(box.selectionEnd)];
    const prompts = (currentChat(this.state)?.items ?? []).flatMap((item) =>
      item.kind === 'prompt' ? [item.text] : [],
    );
    const text =
      event.key === 'ArrowUp' && !before.includes('\n')
        ? this.recall.older(box.value, prompts)
        : event.key === 'ArrowDown' && !after.includes('\n')
          ? this.recall.newer()
          : undefined;
    if (text === undefined) return false;
    event.preventDefault();
    this.text = text;
    box.value = text;
    box.setSelectionRange(text.length, text.length);
    return true;
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    if (this.completes(event) || this.recalls(event)) return;
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
    if (state.attached.some(({ image }) => image) && this.takesNoImages()) {
      this.bridge.dispatch({ type: 'notice', level: 'warning', message: this.noImages() });
      return;
    }
    const ids = state.attached.map(({ id }) => id);
    const attached = ids.length > 0 ? { attachments: ids } : {};
    this.recall.sent(text);
    this.bridge.dispatch({ type: 'sending' });
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
    this.mention = undefined;
  }
}

/** An @ at the beginning of a word, and what follows it up to the cursor. */
const MENTION = /(^|\s)@([^\s@]*)$/;
/** As the editor's explorer and other programs hand over files. */
const URI_LISTS = ['application/vnd.code.uri-list', 'text/uri-list'];

/** Paths of the files in a list of addresses. */
export function pathsOf(list: string): string[] {
  return list.split(/\r?\n/).flatMap((line) => {
    const place = /^(?:file|vscode-remote):\/\/[^/]*(\/.*)$/i.exec(line.trim())?.[1];
    try {
      return place === undefined ? [] : [decodeURIComponent(place).replace(/^\/([a-z]:)/i, '$1')];
    } catch {
      return []; // no address that a file could have
    }
  });
}

function plain(text: string): string {
  return text;
}

/** The choices of an option, with the names of their groups. */
function choicesOf({ choices, name }: ThreadOption): Choice[] {
  return (choices ?? []).map(({ value, name: called, description, group, refused }) => {
    const explanation = [group, description]
      .filter(Boolean)
      .map((words) => revealLine(words!))
      .join(' · ');
    return {
      value,
      name: revealLine(called || name),
      ...(explanation && { explanation }),
      ...(refused !== undefined && { refused: revealLine(fromServer(refused)), original: revealLine(refused) }),
    };
  });
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
