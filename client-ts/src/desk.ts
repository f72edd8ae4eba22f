/**
 * What stands between the webview and the server: carries intents to the one and news to the other. Decides nothing;
 * answers to approvals are approvals.ts's, rules and grants rules.ts's. Knows no editor: that is handed in.
 *
 * INVARIANT (asked again): the first switch to Auto reaches the server only after the person said yes in a modal that the
 * extension drew. The webview's word is not enough.
 */
import { askingView } from './asker.ts';
import { type ApprovalsHost, createApprovals } from './approvals.ts';
import { type AttachmentsHost, createAttachments } from './attachments.ts';
import { addAgent, type AddAgentHost } from './agentAdd.ts';
import { resetLabel } from './agentLabel.ts';
import { type LoginHost, logIn, openLoginLink } from './agentLogin.ts';
import { listsSessions, mayListSessions, openSession, type SessionsHost } from './agentSessions.ts';
import { probeAgent, type ProbeHost } from './agentProbe.ts';
import { endBypass, startBypass } from './bypass.ts';
import { editorText } from './editorText.ts';
import type { Intent, IntentOf } from './intents.ts';
import { asServerError, defined, DISCONNECTED, type Link } from './link.ts';
import type { ReasonTable } from './reasons.ts';
import type { Connection, Snapshot, ToWebview } from './messages.ts';
import { createPrompts, type PromptsHost } from './prompts.ts';
import { createQuestions, type QuestionsHost } from './questions.ts';
import { createRules } from './rules.ts';
import { shortPath } from './subject.ts';
import type { Suggestion } from './suggestions.ts';
import { passVariable } from './variables.ts';
import type * as wire from './wire.gen.ts';

/** What the desk needs of the editor. */
export interface DeskHost
  extends ApprovalsHost, AttachmentsHost, PromptsHost, ProbeHost, AddAgentHost, LoginHost, SessionsHost, QuestionsHost {
  openFile(path: string, line?: number): Promise<void>;
  openSettings(): void;
  /** What a webview asked to be kept in this workspace, as it gave it. */
  keptView(view: string): string | undefined;
  keepView(text: string, view: string): void;
  focusEditor(): void;
  copy(text: string): Promise<void>;
  /** Puts a text where the cursor is in the editor, as if it had been pasted. */
  insert(text: string): Promise<void>;
  showLog(): void;
  restartServer(): void;
  /** Asks the person in a modal first. */
  newLedgerChain(): Promise<void>;
  recall(key: string): boolean;
  remember(key: string): void;
  models(): { models: string[]; modelOf: Record<string, string> };
  setModel(agentName: string, model: string): Promise<void>;
  surroundings(): {
    trusted: boolean;
    workspace?: string;
    home?: string;
    mac: boolean;
    strings: Record<string, string>;
    reasons?: ReasonTable;
  };
  suggestions(): Suggestion[];
}

export interface Desk {
  /** Open approvals, in the order in which their calls were made. */
  approvals(): readonly wire.ApprovalRequest[];
  agents(): readonly wire.AgentView[];
  /** Open questions of agents. */
  questions(): readonly wire.ElicitationRequest[];
  /** All that is known now. */
  snapshot(): Snapshot;
  /** Ids of open approvals that the person put off. */
  postponed(): ReadonlySet<string>;
  /** Carries out what the webview asked. Never throws: what fails is told to the person. */
  handle(intent: Intent): Promise<void>;
  /** Answers a card from outside the webview (a quick pick); same checks as an intent. */
  answer(intent: Omit<IntentOf<'answer'>, 'type'>): Promise<void>;
  /** Draws everything anew from the server; called whenever a connection stands. */
  refresh(): Promise<void>;
  connectionChanged(connection: Connection): void;
  /** Trust or settings changed: models, agents and rules may be others. */
  surroundingsChanged(): void;
  /** Another file is open in the editor, or something else is selected. */
  placeChanged(): void;
  approvalRequested(approval: wire.ApprovalRequest): void;
  approvalResolved(resolved: wire.ApprovalResolved): void;
  questionAsked(question: wire.ElicitationRequest): void;
  questionResolved(resolved: wire.ElicitationResolved): void;
  threadUpdated(update: wire.ThreadUpdate): void;
  /** The agent of a chat offers something else, or gave it a title. */
  sessionChanged(session: wire.ThreadSession): void;
  threadTitled(titled: wire.ThreadTitled): void;
  agentChanged(agent: wire.AgentView): void;
  shellChanged(shell: wire.ShellView): void;
  ledgerChanged(status: wire.LedgerStatus): void;
}

const AUTO_CONFIRMED = 'countersign.autoConfirmed';
const HISTORY_PAGE = 50;
/** What a webview asks for by itself, again after each connection. */
const SHOWN_AGAIN: ReadonlySet<Intent['type']> = new Set([
  'openThread',
  'threads',
  'history',
  'historyStats',
  'shells',
  'shellOutput',
  'rules',
  'proposals',
  'complete',
]);

export function createDesk(link: Link, host: DeskHost, post: (message: ToWebview) => void, changed: () => void): Desk {
  const rules = createRules(link, host, post);
  const approvals = createApprovals(
    link,
    host,
    post,
    (toolCallId, kept) => rules.kept(toolCallId, kept),
    (threadId, mode) => modeIs(threadId, mode),
    take,
  );
  const attachments = createAttachments(host, post);
  const prompts = createPrompts(
    link,
    host,
    post,
    () => listThreads(),
    (threadId) => threads.find((thread) => thread.threadId === threadId)?.mode,
  );
  const questions = createQuestions(link, host, post);
  const agents = new Map<string, wire.AgentView>();
  let threads: wire.ThreadSummary[] = [];
  let connection: Connection = { state: 'starting' };
  let loaded = false;
  let listing: Promise<void> | undefined;
  let listAgain = false;
  let refreshing: Promise<void> | undefined;
  let refreshAgain = false;
  /** What was heard while lists are on their way, for each of them. */
  const awaited = new Set<(() => void)[]>();
  /** The number of the latest search of a kind, by the webview that asked for it. */
  const searches = new Map<string, number>();

  function take(news: () => void): void {
    news();
    for (const heard of awaited) heard.push(news);
  }

  /** An answer may be older than what was heard since it was asked for, so that is done again after it. */
  async function listed<T>(ask: () => Promise<T>, keep: (answer: T) => void): Promise<void> {
    const heard: (() => void)[] = [];
    awaited.add(heard);
    try {
      keep(await ask());
      for (const news of heard) news();
    } finally {
      awaited.delete(heard);
    }
  }

  /** The server searches in threads of their own, so an older answer may come last: it is undefined then. */
  async function latest<T>(kind: string, asked: Promise<T>): Promise<T | undefined> {
    const key = `${kind} ${askingView()}`;
    const number = (searches.get(key) ?? 0) + 1;
    searches.set(key, number);
    const answer = await asked;
    return searches.get(key) === number ? answer : undefined;
  }

  /** One after the other, so that no older answer follows a newer one. */
  function refresh(): Promise<void> {
    refreshAgain = refreshing !== undefined;
    refreshing ??= Promise.resolve()
      .then(refreshWhole)
      .finally(() => (refreshing = undefined));
    return refreshing;
  }

  async function refreshWhole(): Promise<void> {
    do {
      refreshAgain = false;
      try {
        await refreshOnce();
      } catch (error) {
        if (!refreshAgain) throw error; // a new connection asked while the old one ended
      }
    } while (refreshAgain);
  }

  async function refreshOnce(): Promise<void> {
    // Each is kept the moment it comes: news that follows one answer must not be undone by waiting for another.
    await Promise.all([
      listed(
        () => link.request('thread/list', {}),
        (answer) => (threads = answer.threads),
      ),
      listed(stillOpen, (pending) => approvals.replaceAll(pending)),
      listed(
        () => link.request('agent/list', {}),
        (answer) => {
          agents.clear();
          for (const agent of answer.agents) agents.set(agent.agentName, agent);
        },
      ),
    ]);
    loaded = true;
    post(snapshot());
    changed();
  }

  /** A server that was killed could not tell the end of the cards that are still shown: the next one is asked for it. */
  async function stillOpen(): Promise<readonly wire.ApprovalRequest[]> {
    const shown = new Map([...approvals.all()].map((approval) => [approval.approvalId, approval.threadId]));
    const pending = await link.request('tool/pendingApprovals', shown.size > 0 ? { known: [...shown.keys()] } : {});
    for (const { approvalId, state, by } of pending.ended ?? []) {
      const threadId = shown.get(approvalId);
      if (threadId !== undefined) post({ type: 'approvalResolved', resolved: { approvalId, threadId, state, by } });
    }
    return pending.approvals;
  }

  function snapshot(): Snapshot {
    return {
      type: 'snapshot',
      agents: [...agents.values()],
      threads,
      approvals: [...approvals.all()],
      questions: [...questions.all()],
      queued: prompts.queued(),
      connection,
      loaded,
      ...host.models(),
      ...host.surroundings(),
      suggestions: host.suggestions(),
    };
  }

  /** Reasons that come while a list is on its way make one more request, however many they are. */
  function listThreads(): Promise<void> {
    if (listing) {
      listAgain = true;
      return listing;
    }
    listing = listOnce().finally(() => (listing = undefined));
    return listing;
  }

  async function listOnce(): Promise<void> {
    do {
      listAgain = false;
      await listed(
        () => link.request('thread/list', {}),
        (answer) => (threads = answer.threads),
      );
      post({ type: 'threads', threads });
    } while (listAgain);
  }

  async function openThread(threadId: string): Promise<wire.ThreadOpenResult> {
    const thread = await link.request('thread/open', { threadId });
    prompts.opened(threadId, thread.running);
    post({ type: 'threadOpened', thread });
    // Another window may have set it; every webview that shows this chat gets it.
    if (threads.some((known) => known.threadId === threadId && known.mode !== thread.mode))
      modeIs(threadId, thread.mode);
    return thread;
  }

  async function prompt(intent: IntentOf<'prompt'>): Promise<void> {
    let threadId = intent.threadId;
    try {
      if (threadId === undefined) {
        threadId = await newThread(intent);
        if (threadId === undefined)
          return post({
            type: 'promptRefused',
            text: intent.text,
            message: host.t('Not sent: the mode Auto was not confirmed.'),
          });
      }
    } catch (error) {
      const { message } = asServerError(error);
      return post({ type: 'promptRefused', text: intent.text, message });
    }
    await prompts.send(threadId, intent.text, attachments.take(intent.attachments ?? []));
  }

  /** Undefined where the mode was not confirmed. */
  async function newThread({ agentName, mode }: Pick<wire.ThreadCreateParams, 'agentName' | 'mode'>) {
    if (mode === 'auto' && !(await mayUseAuto())) return undefined;
    const made = await link.request('thread/create', { agentName, mode });
    post({ type: 'threadOpened', thread: { ...made, seq: 0, events: [], approvals: [], running: false } });
    return made.threadId;
  }

  /** The agent opens its session before the first message: what it offers is shown then. */
  async function beginThread(intent: IntentOf<'beginThread'>): Promise<void> {
    const threadId = intent.threadId ?? (await newThread(intent));
    if (threadId === undefined) return;
    await host.showWork(host.t('Starting the agent…'), () => link.request('thread/begin', { threadId }));
    const { options, agentName } = await openThread(threadId);
    if (!options?.length) host.tell('info', host.t('{0} offers no options in this chat.', agentName));
    await listThreads();
  }

  async function showThread(threadId: string | undefined): Promise<void> {
    if (threadId === undefined) return;
    await openThread(threadId);
    post({ type: 'showChat', threadId });
    await listThreads();
  }

  async function agentSessions(agentName: string | undefined): Promise<void> {
    const known = [...agents.values()].filter(mayListSessions);
    const named = agentName === undefined ? known : known.filter((agent) => agent.agentName === agentName);
    if (named.length === 0) return host.tell('info', host.t('There is no hosted agent that lists its sessions.'));
    const items = named.map((agent) => ({
      label: editorText(agent.agentName),
      ...(!listsSessions(agent) && { description: host.t('is started to find out whether it lists its sessions') }),
      agent,
    }));
    const chosen = items.length === 1 ? items[0] : await host.pick(items, host.t('Open a session of which agent?'));
    if (chosen) await showThread(await openSession(link, host, chosen.agent.agentName));
  }

  async function mayUseAuto(): Promise<boolean> {
    if (host.recall(AUTO_CONFIRMED)) return true;
    const yes = await host.confirm({
      message: host.t('Switch to Auto?'),
      detail: host.detail(
        'In Auto, agents in this chat edit files, run commands and reach the network without asking you. Deny and ask rules, protected files, and writes outside the workspace still stop them. You can switch back at any time.',
      ),
      button: host.t('Switch to Auto'),
    });
    if (yes) host.remember(AUTO_CONFIRMED);
    return yes;
  }

  async function setMode({ threadId, mode }: IntentOf<'setMode'>): Promise<void> {
    if (mode === 'auto' && !(await mayUseAuto())) {
      const known = threads.find((thread) => thread.threadId === threadId);
      if (known) post({ type: 'modeSet', threadId, mode: known.mode });
      return;
    }
    if (threadId === undefined) return post({ type: 'modeSet', mode });
    const result = await link.request('thread/setMode', { threadId, mode });
    modeIs(threadId, result.mode);
  }

  function modeIs(threadId: string, mode: wire.Mode): void {
    take(() => (threads = threads.map((thread) => (thread.threadId === threadId ? { ...thread, mode } : thread))));
    post({ type: 'modeSet', threadId, mode });
  }

  async function history({ cursor, type: _type, ...wanted }: IntentOf<'history'>): Promise<void> {
    // A ledger that cannot be read fails the query: the page then says why all the same.
    if (wanted.toolCallId === undefined && cursor === undefined)
      post({ type: 'ledger', status: await link.request('ledger/status', {}) });
    const filter = defined({ ...wanted, text: wanted.text || undefined });
    const asked = link.request('history/query', defined({ filter, cursor, limit: HISTORY_PAGE }));
    const isSearch = wanted.toolCallId === undefined && cursor === undefined;
    const page = await (isSearch ? latest('history', asked) : asked);
    if (page) post({ type: 'history', ...page, ...defined({ after: cursor, of: wanted.toolCallId }) });
  }

  async function deleteThread(threadId: string): Promise<void> {
    const title = threads.find((thread) => thread.threadId === threadId)?.title;
    const yes = await host.confirm({
      message: host.t('Delete this chat?'),
      detail: host.detail(
        '{0}\n\nThe chat goes; what was decided in it stays in the approval history.',
        title ?? threadId,
      ),
      button: host.t('Delete'),
    });
    if (!yes) return;
    await link.request('thread/delete', { threadId });
    prompts.threadGone(threadId);
    post({ type: 'threadGone', threadId });
    await listThreads();
  }

  async function carryOut(intent: Intent): Promise<void> {
    switch (intent.type) {
      case 'ready':
        attachments.forget();
        post({ ...snapshot(), ...defined({ kept: host.keptView(askingView()) }) });
        attachments.placeChanged();
        if (link.state !== 'running') return;
        return refresh();
      case 'prompt':
        return prompt(intent);
      case 'attachSelection':
        return attachments.attachSelection();
      case 'attachFile':
        return attachments.attachFile(intent.path, intent.line);
      case 'attachImage':
        return attachments.attachImage(intent.name, intent.mimeType, intent.data);
      case 'detach':
        return attachments.detach(intent.id);
      case 'complete':
        return attachments.complete(intent.text);
      case 'queueRemove':
        return prompts.remove(intent.threadId, intent.id);
      case 'queueSend':
        return prompts.sendNow(intent.threadId, intent.id);
      case 'stop':
        return link.notify('thread/cancel', { threadId: intent.threadId });
      case 'openThread':
        await openThread(intent.threadId);
        return;
      case 'forkThread': {
        const { threadId } = intent;
        const work = (): Promise<wire.ThreadCreateResult> => link.request('thread/fork', { threadId });
        return showThread((await host.showWork(host.t('Forking the chat…'), work)).threadId);
      }
      case 'beginThread':
        return beginThread(intent);
      case 'agentSessions':
        return agentSessions(intent.agentName);
      case 'deleteThread':
        return deleteThread(intent.threadId);
      case 'renameThread':
        await link.request('thread/rename', { threadId: intent.threadId, title: intent.title });
        return listThreads();
      case 'searchThreads': {
        const found = await latest('chats', link.request('thread/search', { text: intent.text }));
        return found && post({ type: 'chatsFound', ...found });
      }
      case 'exportThread': {
        const exported = await link.request('thread/export', { threadId: intent.threadId });
        return host.openFile(exported.path);
      }
      case 'threads':
        return listThreads();
      case 'setMode':
        return setMode(intent);
      case 'setOption': {
        const { threadId, option, value } = intent;
        await link.request('thread/setOption', { threadId, option, value });
        return; // the server tells what the options are then
      }
      case 'setModel':
        if (host.models().models.includes(intent.model)) await host.setModel(intent.agentName, intent.model);
        return;
      case 'answer':
        return approvals.answer(intent);
      case 'bypass':
        return approvals.bypass(intent);
      case 'batch':
        return approvals.batch(intent);
      case 'postpone':
        await approvals.postpone(intent);
        return changed();
      case 'questionSubmit':
        return questions.submit(intent);
      case 'questionOpen':
        return questions.open(intent);
      case 'questionRefuse':
        return questions.refuse(intent);
      case 'openDiff':
        return approvals.openDiff(intent.approvalId);
      case 'openFile':
        return host.openFile(intent.path, intent.line);
      case 'openLink':
        await host.openLink(intent.href);
        return;
      case 'history':
        return history(intent);
      case 'historyStats': {
        const { type: _, ...wanted } = intent;
        const filter = defined({ ...wanted, text: wanted.text || undefined });
        const stats = await latest('figures', link.request('history/stats', { filter }));
        return stats && post({ type: 'historyStats', stats });
      }
      case 'exportHistory': {
        const exported = await link.request('history/export', {});
        return host.openFile(exported.path);
      }
      case 'newLedgerChain':
        return host.newLedgerChain();
      case 'undo': {
        const undone = await link.request('history/undo', { receiptId: intent.receiptId });
        post({ type: 'undone', receiptId: intent.receiptId });
        const { workspace, home } = host.surroundings();
        return post({
          type: 'notice',
          level: 'info',
          message: host.detail('{0} is as it was before.', shortPath(undone.path, workspace, home)),
        });
      }
      case 'shells':
        return post({ type: 'shells', ...(await link.request('shell/list', {})) });
      case 'shellOutput': {
        const { shellId, from } = intent;
        return post({
          type: 'shellOutput',
          shellId,
          from,
          output: await link.request('shell/output', { shellId, from }),
        });
      }
      case 'shellKill':
        await link.request('shell/kill', { shellId: intent.shellId });
        return post({ type: 'shells', ...(await link.request('shell/list', {})) });
      case 'shellToBackground':
        await link.request('shell/toBackground', { toolCallId: intent.toolCallId });
        return;
      case 'rules':
        return rules.list();
      case 'proposals':
        return rules.propose();
      case 'proposalAdd':
        return rules.addProposal(intent);
      case 'ruleAdd':
        return rules.add(intent);
      case 'ruleRemove':
        return rules.remove(intent.ruleId);
      case 'grantRevoke':
        return rules.revoke(intent.grantId);
      case 'takeBack':
        return rules.takeBack(intent.toolCallId);
      case 'agentAdd':
        return addAgent(link, host);
      case 'agentLogin': {
        const agent = agents.get(intent.agentName);
        const { threadId } = intent;
        const mine = threads.some((thread) => thread.threadId === threadId && thread.agentName === intent.agentName);
        const sendAgain = (): boolean => mine && threadId !== undefined && prompts.sendAgain(threadId);
        if (agent?.state === 'needsLogin') await logIn(link, host, agent, sendAgain);
        return;
      }
      case 'loginLink':
        return openLoginLink(host, agents.get(intent.agentName), intent.methodId);
      case 'agentRestart':
        await link.request('agent/restart', { agentName: intent.agentName });
        return;
      case 'labelReset': {
        const agent = agents.get(intent.agentName);
        if (agent?.fallen) await resetLabel(link, host, agent);
        return;
      }
      case 'agentProbe': {
        const agent = agents.get(intent.agentName);
        if (agent) await probeAgent(link, host, agent);
        return;
      }
      case 'bypassStart':
        if (agents.has(intent.agentName)) await startBypass(link, host, intent.agentName);
        return;
      case 'bypassEnd': {
        const agent = agents.get(intent.agentName);
        if (agent?.bypass) await endBypass(link, agent);
        return;
      }
      case 'passVariable':
        return passVariable(link, host, intent.name);
      case 'focused':
        return; // panel.ts keeps in mind which webview it was
      case 'keep':
        return host.keepView(intent.text, askingView());
      case 'focusEditor':
        return host.focusEditor();
      case 'copy':
        return host.copy(intent.text);
      case 'insert':
        return host.insert(intent.text);
      case 'openSettings':
        return host.openSettings();
      case 'showLog':
        return host.showLog();
      case 'restartServer':
        return host.restartServer();
      default:
        return assertNever(intent);
    }
  }

  return {
    approvals: () => approvals.all(),
    agents: () => [...agents.values()],
    questions: () => questions.all(),
    postponed: () => approvals.postponed(),
    snapshot,
    answer: (intent) => approvals.answer(intent),
    refresh,
    async handle(intent) {
      try {
        await carryOut(intent);
      } catch (error) {
        const { kind, message } = asServerError(error);
        // The banner says so, and what only shows something is asked for again.
        if (kind === DISCONNECTED && (connection.state !== 'running' || SHOWN_AGAIN.has(intent.type))) return;
        post({ type: 'notice', level: 'error', message });
      }
    },
    connectionChanged(next) {
      connection = next;
      if (next.state !== 'running') {
        loaded = false;
        prompts.disconnected();
        questions.forget();
        changed();
      }
      post({ type: 'connection', connection });
    },
    surroundingsChanged() {
      post(snapshot());
      if (link.state !== 'running') return;
      void refresh().catch(() => undefined); // the next connection draws it anew
      void rules.listAgain().catch(() => undefined); // the page says so when it is turned to
    },
    placeChanged: () => attachments.placeChanged(),
    approvalRequested(approval) {
      take(() => approvals.keep(approval));
      post({ type: 'approvalRequest', approval });
      changed();
    },
    approvalResolved(resolved) {
      take(() => approvals.drop(resolved.approvalId));
      post({ type: 'approvalResolved', resolved });
      changed();
    },
    questionAsked(question) {
      questions.asked(question);
      changed();
    },
    questionResolved(resolved) {
      questions.resolved(resolved);
      changed();
    },
    threadUpdated(update) {
      post({ type: 'update', update });
      prompts.updated(update);
      // A chat takes its title from the first thing said in it.
      if (update.events.some((event) => event.type === 'prompt')) void listThreads().catch(() => undefined);
    },
    sessionChanged(session) {
      post({ type: 'session', session });
    },
    threadTitled({ threadId, title }) {
      take(() => (threads = threads.map((thread) => (thread.threadId === threadId ? { ...thread, title } : thread))));
      post({ type: 'threads', threads });
    },
    agentChanged(agent) {
      take(() => agents.set(agent.agentName, agent));
      post({ type: 'agents', agents: [...agents.values()] });
      changed();
    },
    shellChanged(shell) {
      post({ type: 'shell', shell });
    },
    ledgerChanged(status) {
      post({ type: 'ledger', status });
    },
  };
}

export function assertNever(value: never): never {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
}
