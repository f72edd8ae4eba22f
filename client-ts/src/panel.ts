/**
 * The webviews: the chat view, and chats that a person opened in editor tabs. Their documents, their content policy, and
 * the two-way bridge. Messages from them are taken only as intents of intents.ts. What they do is desk.ts's; what is drawn
 * is webview/'s.
 *
 * News go to every webview, answers to the one that asked. A tab hears of the cards and questions of its own chat only;
 * the chat view hears of all. Whoever answers first decides: the server tells all of them the end.
 */
import { randomBytes } from 'node:crypto';
import type { Uri, Webview, WebviewPanel, WebviewView, WebviewViewProvider } from 'vscode';

import { asking, askingView, CHAT_VIEW } from './asker.ts';
import { type EditorText, editorText } from './editorText.ts';
import { asIntent, type Intent } from './intents.ts';
import type { CardAction, Snapshot, ToWebview } from './messages.ts';

export interface PanelHost {
  /** The language of our texts, by its tag. */
  language: string;
  fileUri(...parts: string[]): Uri;
  log: { warn(message: string): void };
  /** Makes an editor tab with a webview in it. */
  openTab(title: EditorText): WebviewPanel;
  keepView(text: string | undefined, view: string): void;
  t(message: string): EditorText;
}

export interface Panel extends WebviewViewProvider {
  /** Dropped for a webview that is not there: a new one asks for everything. */
  post(message: ToWebview): void;
  /** For the webview that had the focus last, or else the chat view; false if neither is there. */
  postToLast(message: ToWebview): boolean;
  /** For the tab that had the focus last; false if that was the chat view, or the person cannot see the tab. */
  postToTab(message: ToWebview): boolean;
  /** For the chat view alone. */
  postToView(message: ToWebview): void;
  /** For one webview that the person can see; a sound is to be heard once. */
  postToVisible(message: ToWebview): void;
  setBadge(waiting: number, tooltip: EditorText): void;
  /** Whether the person can see the chat view, or a tab with this chat. */
  isVisible(threadId?: string): boolean;
  /** Becomes true once the chat view has said that it is there, false if it has not within `timeout` milliseconds. */
  whenReady(timeout: number): Promise<boolean>;
  /** Opens the chat that was on the screen last in a tab of its own, or shows the tab that it has. */
  openInTab(): void;
  /** Takes up a tab of before a reload of the window. */
  restoreTab(tab: WebviewPanel, state: unknown): void;
  /** Shows the tab that had the focus last, if a card of its chat waits, and that card if one is named; false if no tab fits. */
  showCardInTab(threads: ReadonlySet<string>, approvalId?: string): boolean;
}

export const TAB_TYPE = 'countersign.chatTab';
const TITLE_LIMIT = 60;

/** One webview: where it is drawn, and which chat it shows. */
interface Surface {
  view: string;
  webview: Webview;
  isVisible(): boolean;
  ready: boolean;
  threadId?: string;
  tab?: WebviewPanel;
}

/** What answers an intent; everything else is news. */
const ANSWERS: ReadonlySet<ToWebview['type']> = new Set([
  'threadOpened',
  'showChat',
  'promptRefused',
  'attached',
  'completions',
  'chatsFound',
  'history',
  'historyStats',
  'answerFailed',
  'answerDropped',
  'questionFailed',
  'shells',
  'shellOutput',
  'proposals',
  'notice',
]);

export function createPanel(
  host: PanelHost,
  handle: (intent: Intent) => void,
  /** All that is known now, for a tab that turns to another chat. */
  snapshot: () => Snapshot,
): Panel {
  const surfaces = new Map<string, Surface>();
  let last = CHAT_VIEW;
  let badge: { value: number; tooltip: EditorText } | undefined;
  let chatView: WebviewView | undefined;
  let titles = new Map<string, string>();
  const waiting = new Set<() => void>();

  function join(surface: Surface): void {
    const { view, webview } = surface;
    surfaces.set(view, surface);
    webview.options = { enableScripts: true, localResourceRoots: [host.fileUri('dist')] };
    webview.onDidReceiveMessage((message: unknown) => {
      const intent = asIntent(message);
      if (!intent) return host.log.warn('the webview sent something that is no intent; dropped');
      if (surfaces.get(view) !== surface) return;
      if (intent.type === 'focused') {
        last = view;
        return;
      }
      if (intent.type === 'ready') {
        surface.ready = true;
        if (view === CHAT_VIEW) for (const resume of waiting) resume();
      }
      asking(view, () => handle(intent));
      if (intent.type === 'keep') turnTo(surface, threadOf(intent.text));
      if (intent.type === 'openThread') turnTo(surface, intent.threadId);
    });
    webview.html = document(webview, host, view);
  }

  function leave(surface: Surface): void {
    if (surfaces.get(surface.view) !== surface) return;
    surfaces.delete(surface.view);
    if (last === surface.view) last = CHAT_VIEW;
  }

  /** A tab hears of the cards of the chat that it shows. */
  function turnTo(surface: Surface, threadId: string | undefined): void {
    if (surface.threadId === threadId) return;
    surface.threadId = threadId;
    entitle(surface);
    if (surface.tab) send(surface, snapshot());
  }

  function entitle({ tab, threadId }: Surface): void {
    if (!tab) return;
    const title = threadId === undefined ? undefined : titles.get(threadId);
    tab.title = title ? editorText(title, TITLE_LIMIT) : host.t('New chat');
  }

  function send(surface: Surface, message: ToWebview): void {
    if (!surface.ready) return;
    const fitting = surface.tab ? ofChat(message, surface.threadId) : message;
    if (fitting) void surface.webview.postMessage(fitting);
  }

  function openTab(view: string, threadId: string | undefined, tab: WebviewPanel): void {
    const surface: Surface = { view, webview: tab.webview, isVisible: () => tab.visible, ready: false, tab };
    if (threadId !== undefined) surface.threadId = threadId;
    tab.onDidDispose(() => {
      leave(surface);
      host.keepView(undefined, view);
    });
    tab.onDidChangeViewState(() => {
      if (tab.active) last = view;
    });
    entitle(surface);
    join(surface);
  }

  /** The webview that had the focus last, if it is there and the person can see it. */
  function focused(): Surface | undefined {
    const surface = surfaces.get(last);
    return surface?.ready && surface.isVisible() ? surface : undefined;
  }

  return {
    resolveWebviewView(made) {
      chatView = made;
      const surface: Surface = {
        view: CHAT_VIEW,
        webview: made.webview,
        isVisible: () => made.visible,
        ready: false,
      };
      made.badge = badge;
      made.onDidDispose(() => {
        if (chatView === made) chatView = undefined;
        leave(surface);
      });
      join(surface);
    },
    post(message) {
      if (message.type === 'threads' || message.type === 'snapshot') {
        titles = new Map(message.threads.map(({ threadId, title }) => [threadId, title]));
        for (const surface of surfaces.values()) entitle(surface);
      }
      const isAnswer = ANSWERS.has(message.type) || (message.type === 'modeSet' && message.threadId === undefined);
      if (!isAnswer) {
        for (const surface of surfaces.values()) send(surface, message);
        return;
      }
      // A tab that was closed meanwhile hears of nothing, and nobody else does.
      const asker = surfaces.get(askingView());
      if (!asker) return;
      if (message.type === 'threadOpened' && asker.threadId === undefined) turnTo(asker, message.thread.threadId);
      if (message.type === 'showChat') turnTo(asker, message.threadId);
      send(asker, message);
    },
    postToLast(message) {
      const surface = focused() ?? surfaces.get(CHAT_VIEW);
      if (!surface?.ready) return false;
      send(surface, message);
      return true;
    },
    postToTab(message) {
      const surface = focused();
      if (!surface?.tab) return false;
      send(surface, message);
      return true;
    },
    postToView(message) {
      const surface = surfaces.get(CHAT_VIEW);
      if (surface) send(surface, message);
    },
    postToVisible(message) {
      const surface = [...surfaces.values()].find((one) => one.ready && one.isVisible());
      if (surface) send(surface, message);
    },
    setBadge(value, tooltip) {
      badge = value > 0 ? { value, tooltip } : undefined;
      if (chatView) chatView.badge = badge;
    },
    isVisible: (threadId) =>
      [...surfaces.values()].some(
        (surface) => surface.ready && surface.isVisible() && (!surface.tab || surface.threadId === threadId),
      ),
    whenReady(timeout) {
      if (surfaces.get(CHAT_VIEW)?.ready) return Promise.resolve(true);
      return new Promise((resolve) => {
        const end = (there: boolean): void => {
          clearTimeout(timer);
          waiting.delete(resume);
          resolve(there);
        };
        const resume = (): void => end(true);
        const timer = setTimeout(() => end(false), timeout);
        waiting.add(resume);
      });
    },
    openInTab() {
      const shown = surfaces.get(last) ?? surfaces.get(CHAT_VIEW);
      const threadId = shown?.threadId;
      const known = [...surfaces.values()].find(
        (one) => one.tab && threadId !== undefined && one.threadId === threadId,
      );
      if (known) return known.tab!.reveal();
      const view = `tab-${randomBytes(8).toString('hex')}`;
      host.keepView(JSON.stringify({ at: Date.now(), view, threadId, draft: '', page: 'chat', scrolls: {} }), view);
      openTab(view, threadId, host.openTab(host.t('New chat')));
      last = view;
    },
    restoreTab(tab, state) {
      const kept = viewOf(state);
      const view = kept !== undefined && !surfaces.has(kept) ? kept : `tab-${randomBytes(8).toString('hex')}`;
      openTab(view, threadOf(JSON.stringify(state ?? {})), tab);
    },
    showCardInTab(threads, approvalId) {
      const surface = surfaces.get(last);
      if (!surface?.tab || !surface.ready || !threads.has(surface.threadId ?? '')) return false;
      surface.tab.reveal();
      send(surface, {
        type: 'act',
        action: 'focus' satisfies CardAction,
        ...(approvalId !== undefined && { approvalId }),
      });
      return true;
    },
  };
}

/** The message as a tab with this chat hears it; undefined if it does not concern that. */
function ofChat(message: ToWebview, threadId: string | undefined): ToWebview | undefined {
  switch (message.type) {
    case 'snapshot':
      return {
        ...message,
        approvals: message.approvals.filter((one) => one.threadId === threadId),
        ...(message.questions && { questions: message.questions.filter((one) => one.threadId === threadId) }),
      };
    case 'approvalRequest':
      return message.approval.threadId === threadId ? message : undefined;
    case 'question':
      return message.question.threadId === threadId ? message : undefined;
    default:
      return message;
  }
}

/** The chat in what a webview asked to be kept. */
function threadOf(kept: string): string | undefined {
  const threadId = field(kept, 'threadId');
  return typeof threadId === 'string' ? threadId : undefined;
}

/** The id of a tab in what the editor kept for it. */
function viewOf(state: unknown): string | undefined {
  const view = field(JSON.stringify(state ?? {}), 'view');
  return typeof view === 'string' && /^tab-[0-9a-f]{16}$/.test(view) ? view : undefined;
}

function field(json: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined; // kept by another version
  }
}

function document(webview: Webview, host: PanelHost, view: string): string {
  const nonce = randomBytes(18).toString('base64');
  const at = (name: string): string => String(webview.asWebviewUri(host.fileUri('dist', name)));
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}; font-src ${webview.cspSource}`;
  return `<!DOCTYPE html>
<html lang="${host.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${at('webview.css')}">
<title>Countersign</title>
</head>
<body data-view="${view}">
<script nonce="${nonce}" src="${at('webview.js')}"></script>
</body>
</html>`;
}
