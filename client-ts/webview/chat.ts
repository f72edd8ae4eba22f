/**
 * One chat as it is drawn: the items of its transcript, made from the server's events. Pure, and nothing is changed in
 * place, so an item that stays the same object need not be drawn again.
 */
import type * as wire from '../src/wire.gen.ts';

export type ThreadEvent = wire.ThreadUpdate['events'][number];

export type Item =
  | {
      kind: 'prompt';
      id: number;
      text: string;
      /** Shown before the server has it. */
      early: boolean;
      attachments?: readonly wire.AttachedPlace[];
    }
  | { kind: 'text' | 'thinking'; id: number; text: string }
  | CallItem
  | { kind: 'todo'; id: number; items: wire.TodoItem[] }
  | { kind: 'notice'; id: number; level: 'info' | 'warning' | 'error'; message: string }
  | { kind: 'question'; id: number; question: wire.QuestionEvent }
  | { kind: 'compacted'; id: number; summary: string; dropped: number }
  | { kind: 'end'; id: number; stopReason: wire.StopReason };

export interface CallItem {
  kind: 'call';
  id: number;
  call: wire.ToolCallEvent;
  output: string;
  result?: wire.ToolResultEvent;
}

export interface Chat {
  threadId: string;
  agentName: string;
  mode: wire.Mode;
  seq: number;
  items: readonly Item[];
  /** Ids of items are given from here; they never come again in this chat. */
  nextId: number;
  /** Prompts sent and not yet answered, and whether the server says that a turn runs. */
  unanswered: number;
  turnRuns: boolean;
  /** What its agent offers while it has a session for the chat. */
  options: readonly wire.ThreadOption[];
  commands: readonly wire.AgentCommand[];
  usage?: wire.UsageEvent;
  /** US dollars of all requests so far, where each had a price. */
  cost?: number;
}

/** Kept of a running command's output on the screen; the whole is in the shells view. */
const OUTPUT_LIMIT = 64 * 1024;

export function isRunning(chat: Chat | undefined): boolean {
  return chat !== undefined && (chat.unanswered > 0 || chat.turnRuns);
}

export function openedChat(thread: wire.ThreadOpenResult, before: Chat | undefined): Chat {
  const empty: Chat = {
    threadId: thread.threadId,
    agentName: thread.agentName,
    mode: thread.mode,
    seq: thread.seq,
    items: [],
    nextId: before?.nextId ?? 0,
    unanswered: before?.unanswered ?? 0,
    turnRuns: thread.running,
    options: thread.options ?? [],
    commands: thread.commands ?? [],
  };
  return { ...thread.events.reduce(withEvent, empty), turnRuns: thread.running };
}

/** The chat after an update; `gap` if one before it is missing, and then the chat is unchanged. */
export function updatedChat(chat: Chat, update: wire.ThreadUpdate): Chat | 'gap' {
  if (update.seq <= chat.seq) return chat;
  if (update.seq !== chat.seq + 1) return 'gap';
  return { ...update.events.reduce(withEvent, chat), seq: update.seq };
}

export function promptedChat(chat: Chat, text: string): Chat {
  return { ...added(chat, { kind: 'prompt', text, early: true }), unanswered: chat.unanswered + 1 };
}

export function turnEndedChat(chat: Chat, error: string | undefined): Chat {
  const unanswered = Math.max(0, chat.unanswered - 1);
  const ended = { ...chat, unanswered, turnRuns: unanswered > 0 && chat.turnRuns };
  // A failing model has told its error as an event already.
  if (error === undefined || chat.items.at(-1)?.kind === 'end') return ended;
  return added(ended, { kind: 'notice', level: 'error', message: error });
}

function withEvent(chat: Chat, event: ThreadEvent): Chat {
  switch (event.type) {
    case 'prompt':
      return { ...withPrompt(chat, event), turnRuns: true };
    case 'text':
    case 'thinking':
      return { ...withText(chat, event.type, event.text), turnRuns: true };
    case 'toolCall':
      return { ...withCall(chat, event), turnRuns: true };
    case 'toolOutput':
      return changedCall(chat, event.toolCallId, (item) => ({ ...item, output: keptOutput(item.output + event.text) }));
    case 'toolResult':
      return withResult(chat, event);
    case 'todo':
      return withTodo(chat, event.items);
    case 'usage':
      return {
        ...chat,
        // Tokens and context may be told apart.
        usage: { ...chat.usage, ...event },
        ...(event.cost !== undefined && { cost: (chat.cost ?? 0) + event.cost }),
      };
    case 'compacted':
      // What the summary itself took is not what the chat has; it counts in the cost alone.
      return added(
        { ...chat, usage: { type: 'usage', contextUsed: event.contextUsed, contextTokens: event.contextTokens } },
        { kind: 'compacted', summary: event.summary, dropped: event.dropped },
      );
    case 'notice':
      return added(chat, { kind: 'notice', level: event.level, message: event.message });
    case 'unpermitted':
      return added(chat, { kind: 'notice', level: event.certain ? 'error' : 'warning', message: event.message });
    case 'question':
      return withQuestion(chat, event);
    case 'error':
      return added(chat, { kind: 'notice', level: 'error', message: event.message });
    case 'done':
      return {
        ...withoutOpen(
          event.stopReason === 'end_turn' ? chat : added(chat, { kind: 'end', stopReason: event.stopReason }),
        ),
        turnRuns: false,
      };
    default:
      // A newer server's event: what we do not know we do not draw.
      return chat;
  }
}

type NewItem = Item extends infer I ? (I extends Item ? Omit<I, 'id'> : never) : never;

function added(chat: Chat, item: NewItem): Chat {
  return { ...chat, items: [...chat.items, { ...item, id: chat.nextId }], nextId: chat.nextId + 1 };
}

function replaced(chat: Chat, old: Item, item: Item): Chat {
  return { ...chat, items: chat.items.map((one) => (one === old ? item : one)) };
}

function withPrompt(chat: Chat, { text, attachments }: wire.PromptEvent): Chat {
  const given = attachments === undefined ? {} : { attachments };
  const early = chat.items.find((item) => item.kind === 'prompt' && item.early && item.text === text);
  return early?.kind === 'prompt'
    ? replaced(chat, early, { ...early, early: false, ...given })
    : added(chat, { kind: 'prompt', text, early: false, ...given });
}

function withText(chat: Chat, kind: 'text' | 'thinking', text: string): Chat {
  const last = chat.items.at(-1);
  if (last?.kind !== kind) return added(chat, { kind, text });
  return { ...chat, items: [...chat.items.slice(0, -1), { ...last, text: last.text + text }] };
}

function withQuestion(chat: Chat, question: wire.QuestionEvent): Chat {
  const known = chat.items.find(
    (item) => item.kind === 'question' && item.question.elicitationId === question.elicitationId,
  );
  return known?.kind === 'question'
    ? replaced(chat, known, { ...known, question })
    : added(chat, { kind: 'question', question });
}

/** No question outlives its turn, even if the server ended before it could say so. */
function withoutOpen(chat: Chat): Chat {
  if (!chat.items.some((item) => item.kind === 'question' && item.question.state === 'waiting')) return chat;
  return {
    ...chat,
    items: chat.items.map((item) =>
      item.kind === 'question' && item.question.state === 'waiting'
        ? { ...item, question: { ...item.question, state: 'cancelled' as const } }
        : item,
    ),
  };
}

function withCall(chat: Chat, call: wire.ToolCallEvent): Chat {
  const known = chat.items.some((item) => item.kind === 'call' && item.call.toolCallId === call.toolCallId);
  return known
    ? changedCall(chat, call.toolCallId, (item) => ({ ...item, call }))
    : added(chat, { kind: 'call', call, output: '' });
}

function withResult(chat: Chat, result: wire.ToolResultEvent): Chat {
  return changedCall(chat, result.toolCallId, (item) => ({ ...item, result }));
}

function changedCall(chat: Chat, toolCallId: string, change: (item: CallItem) => CallItem): Chat {
  const item = chat.items.findLast((one) => one.kind === 'call' && one.call.toolCallId === toolCallId);
  return item?.kind === 'call' ? replaced(chat, item, change(item)) : chat;
}

/** A list of things to do is one item that changes where it stands, until something else was said. */
function withTodo(chat: Chat, items: wire.TodoItem[]): Chat {
  const last = chat.items.findLast((item) => item.kind === 'todo' || item.kind === 'prompt');
  return last?.kind === 'todo' ? replaced(chat, last, { ...last, items }) : added(chat, { kind: 'todo', items });
}

function keptOutput(text: string): string {
  return text.length <= OUTPUT_LIMIT ? text : `… ${text.slice(-OUTPUT_LIMIT + 2)}`;
}
