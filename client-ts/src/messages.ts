/** What the extension tells the webview. The way back is intents.ts. Types only. */
import type { Kept } from './kept.ts';
import type { ReasonTable } from './reasons.ts';
import type { Suggestion } from './suggestions.ts';
import type * as wire from './wire.gen.ts';

export type Page = 'chat' | 'chats' | 'history' | 'shells' | 'rules' | 'review';

/** What a command of the editor asks the webview to do with the card on the screen; its own guards still hold. */
export type CardAction = 'approve' | 'deny' | 'allowChat' | 'focus' | 'next' | 'previous' | 'stop' | 'newChat';

export interface Snapshot {
  type: 'snapshot';
  agents: wire.AgentView[];
  threads: wire.ThreadSummary[];
  approvals: wire.ApprovalRequest[];
  /** What the view asked to be kept for a new one: draft, page and places. The editor forgets its own copy on some reloads. */
  kept?: string;
  /** Open questions of agents, in the order in which they were asked. */
  questions?: wire.ElicitationRequest[];
  /** Prompts that wait, by chat. */
  queued: Record<string, QueuedPrompt[]>;
  /** Names of models a person has set up, and which model each built-in agent uses. */
  models: string[];
  modelOf: Record<string, string>;
  trusted: boolean;
  /** Where paths are shortened from. */
  workspace?: string;
  home?: string;
  mac: boolean;
  /** What an empty chat offers to begin with. */
  suggestions?: Suggestion[];
  /** The bundle of vscode.l10n: English message to translation. */
  strings: Record<string, string>;
  /** The same for the server's texts: template to translation. Absent where the texts stay in English. */
  reasons?: ReasonTable;
  /** A server answers. Without it nothing can be sent, and what is shown is what was last known. */
  connection: Connection;
  /** Threads, approvals and agents are the running server's; before, they are empty or what was last known. */
  loaded: boolean;
}

/** A prompt that was written while a turn ran, and waits for its end. */
export interface QueuedPrompt {
  id: string;
  text: string;
  /** How many attachments go along. */
  attached?: number;
  /** They were lost when the window closed, so it is not sent by itself. */
  lost?: boolean;
}

/** What goes along with a prompt, as a chip shows it. */
export interface Attached {
  id: string;
  path: string;
  startLine?: number;
  endLine?: number;
  /** An image, whose path is a name only. */
  image?: true;
}

/** Where the person is in the editor. */
export type OpenPlace = Pick<Attached, 'path' | 'startLine' | 'endLine'>;

/** A file, or a symbol with the line it stands in. */
export interface Completion {
  name: string;
  path: string;
  line?: number;
}

export interface Connection {
  state: 'starting' | 'running' | 'stopped';
  message?: string;
}

export type ToWebview =
  | Snapshot
  | { type: 'connection'; connection: Connection }
  | { type: 'agents'; agents: wire.AgentView[] }
  | { type: 'threads'; threads: wire.ThreadSummary[] }
  | { type: 'threadOpened'; thread: wire.ThreadOpenResult }
  | { type: 'threadGone'; threadId: string }
  /** What a search in the chats found; without `matches` there is none. */
  | { type: 'chatsFound'; matches?: wire.ThreadMatch[] }
  | { type: 'update'; update: wire.ThreadUpdate }
  | { type: 'prompted'; threadId: string; text: string }
  | { type: 'turnEnded'; threadId: string; error?: string }
  /** All that wait in this chat now. */
  | { type: 'queued'; threadId: string; prompts: QueuedPrompt[] }
  /** What the agent of a chat offers now. */
  | { type: 'session'; session: wire.ThreadSession }
  | { type: 'modeSet'; threadId?: string; mode: wire.Mode }
  | { type: 'promptRefused'; text: string; message: string }
  /** Something was attached to the prompt that is being written; its text, if it has one, stays with the extension. */
  | { type: 'attached'; attachment: Attached }
  /** The file that is open in the editor, and what is selected in it; offered, and sent only once it was attached. */
  | { type: 'openPlace'; place?: OpenPlace }
  /** Files and symbols for the text after an @. */
  | { type: 'completions'; text: string; found: Completion[] }
  | { type: 'approvalRequest'; approval: wire.ApprovalRequest }
  | { type: 'approvalResolved'; resolved: wire.ApprovalResolved }
  /** The person put it off, or took it up again; `expiresAt` is when it expires then. */
  | { type: 'postponed'; approvalId: string; postponed: boolean; expiresAt?: string }
  | { type: 'answerFailed'; approvalId: string; message: string }
  | { type: 'answerDropped'; approvalId: string }
  | { type: 'question'; question: wire.ElicitationRequest }
  | { type: 'questionResolved'; resolved: wire.ElicitationResolved }
  | { type: 'questionFailed'; elicitationId: string; message: string }
  /** `of` names the call that was asked about; without it, it is a page of the history, further ones with their cursor. */
  | { type: 'history'; entries: wire.HistoryEntry[]; cursor?: string; after?: string; of?: string }
  | { type: 'historyStats'; stats: wire.HistoryStatsResult }
  | { type: 'ledger'; status: wire.LedgerStatus }
  | { type: 'shells'; shells: wire.ShellView[] }
  | { type: 'shell'; shell: wire.ShellView }
  | { type: 'shellOutput'; shellId: string; from: number; output: wire.ShellOutputResult }
  | { type: 'rules'; rules: wire.RuleView[]; grants: wire.GrantView[]; calls: number; since?: string }
  | { type: 'proposals'; found: wire.RuleProposalsResult }
  /** What the answer to a call left behind; without `kept`, it was taken back. */
  | { type: 'kept'; toolCallId: string; kept?: Kept }
  | { type: 'undone'; receiptId: string }
  /** An agent begins to wait while the window has no focus. */
  | { type: 'sound' }
  | { type: 'windowFocus'; focused: boolean }
  | { type: 'show'; page: Page }
  /** This chat comes to the front. */
  | { type: 'showChat'; threadId: string }
  /** `approvalId`: its card comes to the screen first. */
  | { type: 'act'; action: CardAction; approvalId?: string }
  /** From the command; the webview knows which chat is meant and asks as its own picker does. */
  | { type: 'chooseMode'; mode: wire.Mode }
  | { type: 'notice'; level: 'info' | 'warning' | 'error'; message: string };
