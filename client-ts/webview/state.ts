/**
 * Everything the webview shows, and how each message changes it: `reduce(state, event)`, pure. What to ask of the
 * extension is bridge.ts's and the views'; how it looks is the views'.
 */
import { inOrder } from '../src/queueOrder.ts';
import type { Kept } from '../src/kept.ts';
import type { Attached, Completion, Connection, OpenPlace, Page, QueuedPrompt, ToWebview } from '../src/messages.ts';
import type { Suggestion } from '../src/suggestions.ts';
import type * as wire from '../src/wire.gen.ts';
import { type Chat, openedChat, promptedChat, turnEndedChat, updatedChat } from './chat.ts';
import { fromServer, t } from './l10n.ts';
import { endedWords, factOf, headlineOf, questionWords, resolvedWords } from './words.ts';

export interface Waiting {
  approval: wire.ApprovalRequest;
  /** An answer is on its way; no other is sent meanwhile. */
  answering: boolean;
  /** Put off by the person: its card is folded until they come back to it. */
  postponed: boolean;
  /** Why the last answer was not taken. */
  failed?: string;
}

export interface OpenQuestion {
  question: wire.ElicitationRequest;
  /** An answer is on its way. */
  answering: boolean;
  /** Why the last answer was not taken. */
  failed?: string;
}

export interface Note {
  id: number;
  level: 'info' | 'warning' | 'error';
  message: string;
  /** Requests that ended without an answer, one a line; more of them are added while it stands. */
  ended?: readonly Ended[];
}

/** A line of a note, and the same with the reason as the server said it. */
interface Ended {
  words: string;
  original: string;
}

export interface State {
  connection: Connection;
  /** What the running server knows is here; see Snapshot. */
  loaded: boolean;
  agents: readonly wire.AgentView[];
  threads: readonly wire.ThreadSummary[];
  models: readonly string[];
  modelOf: Readonly<Record<string, string>>;
  trusted: boolean;
  workspace?: string;
  home?: string;
  mac: boolean;
  /** What an empty chat offers to begin with. */
  suggestions: readonly Suggestion[];
  /** Chats opened in this window, whole. */
  chats: Readonly<Record<string, Chat>>;
  /** The chat on the screen; undefined is a new one that nothing was said in. */
  current?: string;
  draft: { agentName?: string; mode: wire.Mode };
  /** A prompt is on its way to the extension; until that says so, the chat already counts as running. */
  sending: boolean;
  /** Text of a prompt that was refused, to be put back into the composer. */
  refused?: string;
  /** What it may take the place of, beside nothing. */
  outdated?: string;
  /** What goes along with the prompt that is being written. */
  attached: readonly Attached[];
  /** The file that is open in the editor, offered to go along. */
  openPlace?: OpenPlace;
  /** Files and symbols for the text after an @ in it. */
  completions?: { text: string; found: readonly Completion[] };
  /** What a search in the chats found; undefined while all are shown. */
  found?: readonly wire.ThreadMatch[];
  /** Prompts that wait for the end of a turn, by chat. */
  queued: Readonly<Record<string, readonly QueuedPrompt[]>>;
  /** Chats with a gap in what was heard, to be opened anew. */
  gaps: readonly string[];
  /** Open approvals of all chats, in the order in which their calls were made, and the one on the screen. */
  waiting: readonly Waiting[];
  cursor?: string;
  /** Open questions of agents of all chats, and the one on the screen. */
  questions: readonly OpenQuestion[];
  questionCursor?: string;
  page: Page;
  history: { entries: readonly wire.HistoryEntry[]; cursor?: string; loaded: boolean };
  /** Figures of the history, as they were last asked for. */
  stats?: wire.HistoryStatsResult;
  /** Undefined until the server said. */
  ledger?: wire.LedgerStatus;
  /** What the history says of single calls that were asked about. */
  why: Readonly<Record<string, readonly wire.HistoryEntry[]>>;
  shells: readonly wire.ShellView[];
  outputs: Readonly<Record<string, { text: string; next: number; truncated: boolean }>>;
  rules: {
    rules: readonly wire.RuleView[];
    grants: readonly wire.GrantView[];
    calls: number;
    since?: string;
    loaded: boolean;
  };
  proposals?: wire.RuleProposalsResult;
  /** By call, what it would do in the gate's words, as its card said. */
  facts: Readonly<Record<string, string>>;
  /** By call, what its answer left behind, until that was taken back. */
  kept: Readonly<Record<string, Kept | 'takenBack'>>;
  /** Receipts of changes that were taken back here. */
  undone: readonly string[];
  notes: readonly Note[];
  nextNote: number;
  /** What the live region says. */
  saying: string;
  windowFocused: boolean;
}

export type Event =
  | ToWebview
  | { type: 'page'; page: Page }
  | { type: 'openChat'; threadId?: string }
  | { type: 'draftAgent'; agentName: string }
  | { type: 'cursor'; approvalId: string }
  | { type: 'step'; by: 1 | -1 }
  | { type: 'answering'; approvalId: string }
  | { type: 'questionAnswering'; elicitationId: string }
  | { type: 'questionStep'; by: 1 | -1 }
  | { type: 'gapAsked'; threadId: string }
  | { type: 'refusedTaken' }
  | { type: 'sending' }
  | { type: 'detached'; id: string }
  | { type: 'noteClosed'; id: number };

/** Kept of a command's output in the shells view. */
const OUTPUT_LIMIT = 256 * 1024;
const NOTES = 3;
/** Lines kept in the note of what ended by itself. */
const ENDED = 5;

export function initialState(): State {
  return {
    connection: { state: 'starting' },
    loaded: false,
    agents: [],
    threads: [],
    models: [],
    modelOf: {},
    trusted: true,
    mac: false,
    suggestions: [],
    chats: {},
    draft: { mode: 'default' },
    sending: false,
    attached: [],
    queued: {},
    gaps: [],
    waiting: [],
    questions: [],
    page: 'chat',
    history: { entries: [], loaded: false },
    why: {},
    shells: [],
    outputs: {},
    rules: { rules: [], grants: [], calls: 0, loaded: false },
    facts: {},
    kept: {},
    undone: [],
    notes: [],
    nextNote: 0,
    saying: '',
    windowFocused: true,
  };
}

export function reduce(state: State, event: Event): State {
  switch (event.type) {
    case 'snapshot': {
      const { agents, threads, models, modelOf, trusted, workspace, home, mac, connection, loaded, queued } = event;
      return withWaiting(
        {
          ...withFacts(state, event.approvals),
          agents,
          threads: newestFirst(threads),
          chats: withModes(state.chats, threads),
          models,
          modelOf,
          trusted,
          workspace,
          home,
          mac,
          suggestions: event.suggestions ?? [],
          connection,
          loaded,
          queued,
          questions: keptQuestions(state.questions, event.questions ?? []),
        },
        kept(state.waiting, event.approvals),
      );
    }
    case 'connection':
      return {
        ...state,
        connection: event.connection,
        ledger: event.connection.state === 'running' ? state.ledger : undefined,
        questions: event.connection.state === 'running' ? state.questions : [],
        loaded: state.loaded && event.connection.state === 'running',
        sending: state.sending && event.connection.state === 'running',
      };
    case 'agents':
      return { ...state, agents: event.agents };
    case 'threads':
      return { ...state, threads: newestFirst(event.threads), chats: withModes(state.chats, event.threads) };
    case 'threadOpened':
      return opened(state, event.thread);
    case 'chatsFound':
      return { ...state, found: event.matches };
    case 'threadGone': {
      const { [event.threadId]: _, ...chats } = state.chats;
      return { ...state, chats, current: state.current === event.threadId ? undefined : state.current };
    }
    case 'update':
      return updated(state, event.update);
    case 'sending':
      return { ...state, sending: true, attached: [] };
    case 'prompted':
      return withChat({ ...state, sending: false }, event.threadId, (chat) => promptedChat(chat, event.text));
    case 'turnEnded':
      return withChat(state, event.threadId, (chat) => turnEndedChat(chat, event.error));
    case 'queued':
      return { ...state, sending: false, queued: { ...state.queued, [event.threadId]: event.prompts } };
    case 'session':
      return withChat(state, event.session.threadId, (chat) => ({
        ...chat,
        options: event.session.options,
        commands: event.session.commands,
      }));
    case 'modeSet':
      if (event.threadId === undefined) return { ...state, draft: { ...state.draft, mode: event.mode } };
      return withChat(state, event.threadId, (chat) => ({ ...chat, mode: event.mode }));
    case 'promptRefused':
      return { ...noted(state, 'error', event.message), refused: event.text, sending: false };
    case 'attached': {
      const { path, startLine, endLine, image } = event.attachment;
      const others = state.attached.filter(
        (one) => image || one.image || one.path !== path || one.startLine !== startLine || one.endLine !== endLine,
      );
      return { ...state, attached: [...others, event.attachment] };
    }
    case 'openPlace':
      return { ...state, openPlace: event.place };
    case 'detached':
      return { ...state, attached: state.attached.filter(({ id }) => id !== event.id) };
    case 'completions':
      return { ...state, completions: { text: event.text, found: event.found } };
    case 'refusedTaken':
      return { ...state, refused: undefined, outdated: undefined };
    case 'approvalRequest':
      return requested(state, event.approval);
    case 'postponed':
      return postponedChanged(state, event.approvalId, event.postponed, event.expiresAt);
    case 'approvalResolved':
      return resolved(state, event.resolved);
    case 'question':
      return {
        ...state,
        questions: keptQuestions(state.questions, [...state.questions.map((one) => one.question), event.question]),
        saying: t('{0} asks a question.', event.question.agentName),
      };
    case 'questionResolved': {
      const questions = state.questions.filter(
        ({ question }) => question.elicitationId !== event.resolved.elicitationId,
      );
      const { state: how } = event.resolved;
      if (questions.length === state.questions.length) return state;
      return { ...state, questions, saying: t('The question has ended: {0}.', questionWords(how)) };
    }
    case 'questionFailed':
      return {
        ...withQuestion(state, event.elicitationId, { answering: false, failed: event.message }),
        saying: fromServer(event.message),
      };
    case 'questionAnswering':
      return withQuestion(state, event.elicitationId, { answering: true, failed: undefined });
    case 'questionStep': {
      const ids = state.questions.map(({ question }) => question.elicitationId);
      const at = Math.max(0, ids.indexOf(state.questionCursor ?? ''));
      return { ...state, questionCursor: ids[(at + event.by + ids.length) % Math.max(1, ids.length)] };
    }
    case 'answering':
      return withAnswer(state, event.approvalId, { answering: true, failed: undefined });
    case 'answerDropped':
      return withAnswer(state, event.approvalId, { answering: false });
    case 'answerFailed':
      return {
        ...withAnswer(state, event.approvalId, { answering: false, failed: event.message }),
        saying: fromServer(event.message),
      };
    case 'history':
      if (event.of !== undefined) return { ...state, why: { ...state.why, [event.of]: event.entries } };
      // Asked twice, or for entries that are no longer shown.
      if (event.after !== undefined && event.after !== state.history.cursor) return state;
      return {
        ...state,
        history: {
          entries: event.after !== undefined ? [...state.history.entries, ...event.entries] : event.entries,
          cursor: event.cursor,
          loaded: true,
        },
      };
    case 'historyStats':
      return { ...state, stats: event.stats };
    case 'ledger':
      return { ...state, ledger: event.status };
    case 'shells':
      return { ...state, shells: event.shells };
    case 'shell':
      return { ...state, shells: withShell(state.shells, event.shell) };
    case 'shellOutput':
      return heardOutput(state, event.shellId, event.from, event.output);
    case 'rules':
      return {
        ...state,
        rules: { rules: event.rules, grants: event.grants, calls: event.calls, since: event.since, loaded: true },
      };
    case 'proposals':
      return { ...state, proposals: event.found };
    case 'kept':
      return { ...state, kept: { ...state.kept, [event.toolCallId]: event.kept ?? 'takenBack' } };
    case 'undone':
      return { ...state, undone: [...state.undone, event.receiptId] };
    case 'windowFocus':
      return { ...state, windowFocused: event.focused };
    case 'show':
    case 'page':
      return { ...state, page: event.page };
    case 'openChat':
    case 'showChat':
      return { ...state, current: event.threadId, page: 'chat' };
    case 'draftAgent':
      return { ...state, draft: { ...state.draft, agentName: event.agentName } };
    case 'cursor':
      return { ...state, cursor: event.approvalId };
    case 'step':
      return { ...state, cursor: stepped(state, event.by) };
    case 'gapAsked':
      return { ...state, gaps: state.gaps.filter((threadId) => threadId !== event.threadId) };
    case 'notice':
      return noted(state, event.level, event.message);
    case 'noteClosed':
      return { ...state, notes: state.notes.filter((note) => note.id !== event.id) };
    case 'act':
      // One that was put off stays so.
      return state.waiting.some((one) => one.approval.approvalId === event.approvalId && !one.postponed)
        ? { ...state, cursor: event.approvalId! }
        : state;
    case 'chooseMode':
    case 'sound':
      // Done by the views, which know what holds the focus, and by the bridge.
      return state;
  }
}

function newestFirst(threads: readonly wire.ThreadSummary[]): wire.ThreadSummary[] {
  return [...threads].sort((one, other) =>
    one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0,
  );
}

/** The chats with the modes that the list tells: another window may have set them. */
function withModes(chats: State['chats'], threads: readonly wire.ThreadSummary[]): State['chats'] {
  const others = threads.flatMap(({ threadId, mode }) => {
    const chat = chats[threadId];
    return chat && chat.mode !== mode ? [[threadId, { ...chat, mode }] as const] : [];
  });
  return others.length > 0 ? { ...chats, ...Object.fromEntries(others) } : chats;
}

/** The card on the screen. */
export function shownCard(state: State): Waiting | undefined {
  return state.waiting.find((one) => one.approval.approvalId === state.cursor && !one.postponed);
}

/** The question on the screen: the one that was paged to, else the first. */
export function shownQuestion(state: State): OpenQuestion | undefined {
  return state.questions.find(({ question }) => question.elicitationId === state.questionCursor) ?? state.questions[0];
}

export function currentChat(state: State): Chat | undefined {
  return state.current === undefined ? undefined : state.chats[state.current];
}

function withChat(state: State, threadId: string, change: (chat: Chat) => Chat): State {
  const chat = state.chats[threadId];
  return chat ? { ...state, chats: { ...state.chats, [threadId]: change(chat) } } : state;
}

function opened(state: State, thread: wire.ThreadOpenResult): State {
  const chats = { ...state.chats, [thread.threadId]: openedChat(thread, state.chats[thread.threadId]) };
  const gaps = state.gaps.filter((threadId) => threadId !== thread.threadId);
  // A chat that was asked for because of a gap does not come to the front by itself.
  const current = thread.threadId in state.chats ? state.current : thread.threadId;
  return { ...state, chats, gaps, current };
}

function updated(state: State, update: wire.ThreadUpdate): State {
  const chat = state.chats[update.threadId];
  if (!chat) return state; // not opened here: it will come whole
  const next = updatedChat(chat, update);
  if (next === 'gap')
    return state.gaps.includes(update.threadId) ? state : { ...state, gaps: [...state.gaps, update.threadId] };
  return { ...state, chats: { ...state.chats, [update.threadId]: next } };
}

function requested(state: State, approval: wire.ApprovalRequest): State {
  const waiting = [
    ...state.waiting.filter((one) => one.approval.approvalId !== approval.approvalId),
    { approval, answering: false, postponed: approval.postponed === true },
  ].sort((one, other) => inOrder(one.approval, other.approval));
  const asks = t('{0} asks: {1}', approval.agentName, headlineOf(approval));
  const keys = state.mac
    ? t('Command Option Period goes to the card, Command Option Enter denies.')
    : t('Control Alt Period goes to the card, Control Alt Enter denies.');
  const said = waiting.length === 1 ? `${asks} ${keys}` : `${asks} ${t('{0} waiting.', waiting.length)} ${keys}`;
  return { ...withWaiting(withFacts(state, [approval]), waiting), saying: said };
}

function resolved(state: State, resolved: wire.ApprovalResolved): State {
  const gone = state.waiting.find((one) => one.approval.approvalId === resolved.approvalId);
  if (!gone) return state;
  const waiting = state.waiting.filter((one) => one !== gone);
  const words = `${headlineOf(gone.approval)} ${resolvedWords(resolved)}.`;
  const next = withWaiting(state, waiting);
  // The person's own answer, and a turn that they stopped, need no note.
  const shown =
    resolved.by === 'user' || resolved.by === 'cancel'
      ? next
      : endedNote(next, {
          words: endedWords(gone.approval, resolved),
          original: endedWords(gone.approval, resolved, (reason) => reason),
        });
  return { ...shown, saying: waiting.length === 0 ? words : `${words} ${t('{0} waiting.', waiting.length)}` };
}

/** The note of what ended by itself, with one line more. */
function endedNote(state: State, line: Ended): State {
  const before = state.notes.findLast((note) => note.ended !== undefined);
  const ended = [...(before?.ended ?? []), line].slice(-ENDED);
  const rest = { ...state, notes: state.notes.filter((note) => note !== before) };
  const next = noted(rest, 'info', ended.map(({ words }) => words).join('\n'));
  return { ...next, notes: next.notes.map((note) => (note.id === state.nextNote ? { ...note, ended } : note)) };
}

/** With the cursor kept on its card, or, if that has gone, on the one that takes its place. */
function withWaiting(state: State, waiting: readonly Waiting[]): State {
  const ids = active(waiting);
  const before = active(state.waiting).indexOf(state.cursor ?? '');
  const cursor =
    state.cursor !== undefined && ids.includes(state.cursor)
      ? state.cursor
      : ids[Math.min(Math.max(before, 0), ids.length - 1)];
  const page = state.page === 'review' && waiting.length === 0 ? 'chat' : state.page;
  return { ...state, waiting, cursor, page };
}

/** The server's list, with what is known here of those that were open already. */
function kept(before: readonly Waiting[], approvals: readonly wire.ApprovalRequest[]): Waiting[] {
  return [...approvals].sort(inOrder).map((approval) => {
    const known = before.find(
      (one) => one.approval.approvalId === approval.approvalId && one.approval.digest === approval.digest,
    );
    const postponed = approval.postponed === true;
    if (!known) return { approval, answering: false, postponed };
    // What was seen of it hangs on the preview, as long as that shows the same. The clock is the server's.
    const { preview } = known.approval;
    const same = JSON.stringify(preview) === JSON.stringify(approval.preview);
    return { ...known, approval: same ? { ...approval, preview } : approval, postponed };
  });
}

function withFacts(state: State, approvals: readonly wire.ApprovalRequest[]): State {
  return {
    ...state,
    facts: {
      ...state.facts,
      ...Object.fromEntries(approvals.map((approval) => [approval.toolCall.toolCallId, factOf(approval)])),
    },
  };
}

/** Ids of those that were not put off. */
function active(waiting: readonly Waiting[]): string[] {
  return waiting.filter((one) => !one.postponed).map((one) => one.approval.approvalId);
}

/** What is taken up again comes to the front. */
function postponedChanged(state: State, approvalId: string, postponed: boolean, expiresAt: string | undefined): State {
  const changed = state.waiting.find((one) => one.approval.approvalId === approvalId);
  if (!changed) return state;
  const now = { ...changed, postponed, approval: { ...changed.approval, expiresAt } };
  const next = withWaiting(
    state,
    state.waiting.map((one) => (one === changed ? now : one)),
  );
  if (!postponed) return { ...next, cursor: approvalId };
  return { ...next, saying: t('Put off: {0} It stays open.', headlineOf(changed.approval)) };
}

/** Questions as they were told, each with what is known of it here; one that is known keeps its object. */
function keptQuestions(
  before: readonly OpenQuestion[],
  questions: readonly wire.ElicitationRequest[],
): readonly OpenQuestion[] {
  return questions.map(
    (question) =>
      before.find((one) => one.question.elicitationId === question.elicitationId) ?? { question, answering: false },
  );
}

function withQuestion(state: State, elicitationId: string, change: Partial<OpenQuestion>): State {
  return {
    ...state,
    questions: state.questions.map((one) =>
      one.question.elicitationId === elicitationId ? { ...one, ...change } : one,
    ),
  };
}

function withAnswer(state: State, approvalId: string, change: Partial<Waiting>): State {
  return {
    ...state,
    waiting: state.waiting.map((one) => (one.approval.approvalId === approvalId ? { ...one, ...change } : one)),
  };
}

function stepped(state: State, by: 1 | -1): string | undefined {
  const ids = active(state.waiting);
  const at = ids.indexOf(state.cursor ?? '');
  return ids[(at + by + ids.length) % Math.max(1, ids.length)];
}

function withShell(shells: readonly wire.ShellView[], shell: wire.ShellView): wire.ShellView[] {
  const known = shells.some((one) => one.shellId === shell.shellId);
  return known ? shells.map((one) => (one.shellId === shell.shellId ? shell : one)) : [...shells, shell];
}

function heardOutput(state: State, shellId: string, from: number, output: wire.ShellOutputResult): State {
  const before = from === 0 ? undefined : state.outputs[shellId];
  if (from !== 0 && before?.next !== from) return state; // asked twice
  const text = (before?.text ?? '') + output.text;
  const truncated = before?.truncated === true || output.truncated === true || text.length > OUTPUT_LIMIT;
  return {
    ...state,
    outputs: { ...state.outputs, [shellId]: { text: text.slice(-OUTPUT_LIMIT), next: output.next, truncated } },
  };
}

function noted(state: State, level: Note['level'], message: string): State {
  const notes = [...state.notes, { id: state.nextNote, level, message }].slice(-NOTES);
  return { ...state, notes, nextNote: state.nextNote + 1, saying: fromServer(message) };
}
