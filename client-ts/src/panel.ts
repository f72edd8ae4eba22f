/**
 * The webview of the chat view: its document, its content policy, and the two-way bridge. Messages from it are taken
 * only as intents of intents.ts. What they do is desk.ts's; what is drawn is webview/'s.
 */
import { randomBytes } from 'node:crypto';
import type { Uri, Webview, WebviewView, WebviewViewProvider } from 'vscode';

import type { EditorText } from './editorText.ts';
import { asIntent, type Intent } from './intents.ts';
import type { ToWebview } from './messages.ts';

export interface PanelHost {
  fileUri(...parts: string[]): Uri;
  log: { warn(message: string): void };
}

export interface Panel extends WebviewViewProvider {
  /** Dropped while there is no webview: a new one asks for everything. */
  post(message: ToWebview): void;
  setBadge(waiting: number, tooltip: EditorText): void;
  isVisible(): boolean;
  /** Becomes true once the webview has said that it is there, false if it has not within `timeout` milliseconds. */
  whenReady(timeout: number): Promise<boolean>;
}

export function createPanel(host: PanelHost, handle: (intent: Intent) => void): Panel {
  let view: WebviewView | undefined;
  let ready = false;
  let badge: { value: number; tooltip: EditorText } | undefined;
  const waiting = new Set<() => void>();

  return {
    resolveWebviewView(made) {
      view = made;
      ready = false;
      made.webview.options = { enableScripts: true, localResourceRoots: [host.fileUri('dist')] };
      made.badge = badge;
      made.onDidDispose(() => {
        if (view === made) view = undefined;
        ready = false;
      });
      made.webview.onDidReceiveMessage((message: unknown) => {
        const intent = asIntent(message);
        if (!intent) return host.log.warn('the webview sent something that is no intent; dropped');
        if (intent.type === 'ready') {
          ready = true;
          for (const resume of waiting) resume();
        }
        handle(intent);
      });
      made.webview.html = document(made.webview, host);
    },
    post(message) {
      if (view && ready) void view.webview.postMessage(message);
    },
    setBadge(value, tooltip) {
      badge = value > 0 ? { value, tooltip } : undefined;
      if (view) view.badge = badge;
    },
    isVisible: () => view?.visible === true && ready,
    whenReady(timeout) {
      if (view && ready) return Promise.resolve(true);
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
  };
}

function document(webview: Webview, host: PanelHost): string {
  const nonce = randomBytes(18).toString('base64');
  const at = (name: string): string => String(webview.asWebviewUri(host.fileUri('dist', name)));
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}; font-src ${webview.cspSource}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${at('webview.css')}">
<title>Countersign</title>
</head>
<body>
<script nonce="${nonce}" src="${at('webview.js')}"></script>
</body>
</html>`;
}
