/**
 * The webview's two ends: intents go out, messages come in and are applied together once a frame, so that a stream of
 * them costs one drawing. Keeps the state, and asks for what the state says is missing.
 */
import type { Intent } from '../src/intents.ts';
import type { CardAction, Page, ToWebview } from '../src/messages.ts';
import type { Mode } from '../src/wire.gen.ts';
import { useReasons, useStrings } from './l10n.ts';
import type { Actions } from './markdown.ts';
import { playSound } from './sound.ts';
import { type Event, initialState, reduce, type State } from './state.ts';

interface EditorApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

export interface Bridge {
  readonly state: State;
  post(intent: Intent): void;
  dispatch(event: Event): void;
  /** Called after every change, at most once a frame for what the extension sends. */
  onChange(listener: () => void): void;
  /** What stands in the composer; outlives its being hidden, and the webview. */
  draft: string;
  /** Where a chat was scrolled to, in the same way; undefined at its end. */
  scrollOf(threadId: string): Scroll | undefined;
  keepScroll(threadId: string, scroll: Scroll | undefined): void;
  onAction(listener: (action: CardAction) => void): void;
  onChooseMode(listener: (mode: Mode) => void): void;
}

/** How far a chat is scrolled, and how many of its items are drawn. */
export interface Scroll {
  top: number;
  shown: number;
}

/** Scrolling tells its place many times a second; the editor is told once it rests. */
const KEEP_DELAY = 150;
/** Chats whose place is kept. */
const SCROLLS = 20;
/** A hidden page gets no frames; what is said of it must still be heard. */
const HIDDEN_FRAME = 100;

export function createBridge(api: EditorApi): Bridge {
  let inbox: ToWebview[] = [];
  let scheduled = false;
  let drawn: () => void = () => undefined;
  let acted: (action: CardAction) => void = () => undefined;
  let modeChosen: (mode: Mode) => void = () => undefined;
  /** Which webview this is: the chat view, or a chat in an editor tab, which stays with its chat. */
  const view = document.body.dataset['view'] ?? 'view';
  const before = api.getState();
  let keeping: ReturnType<typeof setTimeout> | undefined;
  let telling: ReturnType<typeof setTimeout> | undefined;
  let restored = false;
  let chosen = textOf(before, 'threadId');
  let draft = textOf(before, 'draft') ?? '';
  let scrolls: Readonly<Record<string, Scroll>> = scrollsOf(before);
  let state: State = { ...initialState(), page: pageOf(before) };
  const keep = (): void => {
    const all = { at: Date.now(), view, threadId: chosen, draft, page: state.page, scrolls };
    api.setState(all);
    clearTimeout(telling);
    telling = setTimeout(
      () => api.postMessage({ type: 'keep', text: JSON.stringify(all) } satisfies Intent),
      KEEP_DELAY,
    );
  };
  let settled = false;
  let loaded = false;
  /** Pages that were asked for since the last input or batch of messages: a page that is restored and shown is asked for once. */
  const asked = new Set<Page>();

  function dispatch(event: Event): void {
    const { page } = state;
    asked.clear();
    state = reduce(state, event);
    settle();
    drawn();
    if (event.type === 'page') askFor(event.page);
    if (page !== state.page) keep();
  }

  function takeAll(): void {
    scheduled = false;
    const messages = inbox;
    const wasBroken = state.ledger?.state === 'broken';
    const { page } = state;
    inbox = [];
    asked.clear();
    for (const message of messages) {
      if (message.type === 'snapshot') {
        useStrings(message.strings);
        useReasons(message.reasons ?? {});
        restore(message.kept);
      }
      state = reduce(state, message);
      settle();
    }
    drawn();
    for (const message of messages) {
      if (message.type === 'act') acted(message.action);
      if (message.type === 'chooseMode') modeChosen(message.mode);
      if (message.type === 'show') askFor(message.page);
      if (message.type === 'sound') playSound();
    }
    if (page !== state.page) keep();
    // A new chain begins with a row that names the damage.
    if (state.page === 'history' && wasBroken && state.ledger !== undefined && state.ledger.state !== 'broken')
      api.postMessage({ type: 'history' } satisfies Intent);
    // Grants end with their turn, and what was answered may have left one.
    if (state.page === 'rules' && messages.some(({ type }) => type === 'turnEnded' || type === 'approvalResolved'))
      api.postMessage({ type: 'rules' } satisfies Intent);
  }

  /** What the extension kept, where that is newer: on a reload the editor may hand out an old copy of its own, or none. */
  function restore(text: string | undefined): void {
    if (restored) return;
    restored = true;
    const kept = parsed(text);
    if (kept === undefined || timeOf(kept) <= timeOf(before)) return;
    chosen = textOf(kept, 'threadId');
    scrolls = scrollsOf(kept);
    // Put into the text box as a refused prompt is: unless something was typed there meanwhile.
    const refused = textOf(kept, 'draft');
    state = { ...state, page: pageOf(kept), ...(refused !== undefined && { refused, outdated: draft }) };
  }

  /** What a page shows is fetched when it is turned to. */
  function askFor(page: Page): void {
    if (asked.has(page)) return;
    asked.add(page);
    if (page === 'chats') api.postMessage({ type: 'threads' } satisfies Intent);
    if (page === 'history' || page === 'shells' || page === 'rules') api.postMessage({ type: page } satisfies Intent);
    if (page === 'rules') api.postMessage({ type: 'proposals' } satisfies Intent);
  }

  /** Asks for what is missing, and keeps in mind which chat is on the screen. */
  function settle(): void {
    for (const threadId of state.gaps) {
      state = reduce(state, { type: 'gapAsked', threadId });
      api.postMessage({ type: 'openThread', threadId } satisfies Intent);
    }
    const again = !loaded && state.loaded;
    loaded = state.loaded;
    if (again) askFor(state.page);
    // Another server, or the same one after a while: what the chat on the screen missed comes with the whole of it.
    if (again && settled && state.current !== undefined)
      api.postMessage({ type: 'openThread', threadId: state.current } satisfies Intent);
    if (!settled && state.loaded) {
      settled = true;
      const first =
        state.threads.find((thread) => thread.threadId === chosen) ?? (view === 'view' ? state.threads[0] : undefined);
      if (state.current === undefined && first) {
        state = { ...reduce(state, { type: 'openChat', threadId: first.threadId }), page: state.page };
        api.postMessage({ type: 'openThread', threadId: first.threadId } satisfies Intent);
      }
    }
    if (settled && state.current !== chosen) {
      chosen = state.current;
      keep();
    }
  }

  window.addEventListener('message', (event: MessageEvent<ToWebview>) => {
    inbox.push(event.data);
    if (scheduled) return;
    scheduled = true;
    if (document.visibilityState === 'visible') requestAnimationFrame(takeAll);
    else setTimeout(takeAll, HIDDEN_FRAME);
  });

  return {
    get state() {
      return state;
    },
    get draft() {
      return draft;
    },
    set draft(text) {
      draft = text;
      keep();
    },
    scrollOf: (threadId) => scrolls[threadId],
    keepScroll(threadId, scroll) {
      const { [threadId]: _, ...others } = scrolls;
      scrolls = Object.fromEntries(
        [...Object.entries(others), ...(scroll ? [[threadId, scroll]] : [])].slice(-SCROLLS),
      );
      clearTimeout(keeping);
      keeping = setTimeout(keep, KEEP_DELAY);
    },
    post: (intent) => api.postMessage(intent),
    dispatch,
    onChange: (listener) => (drawn = listener),
    onAction: (listener) => (acted = listener),
    onChooseMode: (listener) => (modeChosen = listener),
  };
}

/** The page that was open; the review comes back with its requests, and only by itself. */
function pageOf(kept: unknown): Page {
  const page = textOf(kept, 'page');
  return page === 'chats' || page === 'history' || page === 'shells' || page === 'rules' ? page : 'chat';
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // kept by another version
  }
}

function scrollsOf(kept: unknown): Record<string, Scroll> {
  const found: unknown = typeof kept === 'object' && kept !== null && 'scrolls' in kept ? kept.scrolls : undefined;
  return typeof found === 'object' && found !== null ? (found as Record<string, Scroll>) : {};
}

function timeOf(kept: unknown): number {
  const at: unknown = typeof kept === 'object' && kept !== null && 'at' in kept ? kept.at : undefined;
  return typeof at === 'number' ? at : -1;
}

function textOf(kept: unknown, name: string): string | undefined {
  const value: unknown =
    typeof kept === 'object' && kept !== null && Object.hasOwn(kept, name)
      ? (kept as Record<string, unknown>)[name]
      : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** What a person may do with the links and the code of a Markdown text. */
export function textActions(bridge: Bridge): Actions {
  return {
    open(target) {
      if ('href' in target) bridge.post({ type: 'openLink', href: target.href });
      else
        bridge.post({
          type: 'openFile',
          path: target.path,
          ...(target.line !== undefined && { line: target.line }),
        });
    },
    copy: (text) => bridge.post({ type: 'copy', text }),
    insert: (text) => bridge.post({ type: 'insert', text }),
  };
}
