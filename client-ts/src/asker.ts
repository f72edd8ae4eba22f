/**
 * Which webview's intent is being carried out. There may be several: the chat view, and chats in editor tabs. What answers
 * an intent goes back to the webview that asked; news go to all (panel.ts).
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** The chat view; a chat in an editor tab has an id of its own. */
export const CHAT_VIEW = 'view';

const asker = new AsyncLocalStorage<string>();

export function asking<T>(view: string, work: () => T): T {
  return asker.run(view, work);
}

/** The chat view where nobody asked, as for what the server tells. */
export function askingView(): string {
  return asker.getStore() ?? CHAT_VIEW;
}
